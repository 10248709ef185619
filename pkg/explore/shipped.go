package explore

import (
	"bytes"
	"io"
	"io/fs"
	"time"

	"github.com/evenkeel/evenkeel/fixtures"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// scheduleFile is where a schedule stands among the fixtures that ship.
const scheduleFile = "scenarios/schedule.yaml"

// Load reads the scenario of a schedule as a run does, without a file of its own.
func Load(raw []byte) (*scenario.Scenario, error) {
	return scenario.LoadFS(shipped(raw), scheduleFile)
}

// shipped has the fixtures that ship, and a schedule among them.
type shipped []byte

func (s shipped) Open(name string) (fs.File, error) {
	if name == scheduleFile {
		return &memoryFile{bytes.NewReader(s), int64(len(s))}, nil
	}
	return fixtures.Files.Open(name)
}

// memoryFile is the open file of a schedule.
type memoryFile struct {
	io.Reader
	size int64
}

func (f *memoryFile) Close() error               { return nil }
func (f *memoryFile) Stat() (fs.FileInfo, error) { return info{f.size}, nil }

type info struct{ size int64 }

func (i info) Name() string       { return "schedule.yaml" }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o444 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }
