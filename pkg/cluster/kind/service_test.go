//go:build linux

package kind

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
)

// executable is the least that reads as a program whose parts are of the types.
func executable(t *testing.T, types ...elf.ProgType) *os.File {
	t.Helper()
	var content bytes.Buffer
	//nolint:gosec // G115: a test names two or three parts.
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: uint16(len(types)), Shentsize: 64,
	}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA], header.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	parts := []any{header}
	for _, one := range types {
		parts = append(parts, elf.Prog64{Type: uint32(one)}) //nolint:gosec // G115: types of parts have 32 bits.
	}
	for _, part := range parts {
		if err := binary.Write(&content, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return fileOf(t, content.Bytes())
}

func fileOf(t *testing.T, content []byte) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, content, privateMode); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func TestCheckStatic(t *testing.T) {
	static := executable(t, elf.PT_LOAD, elf.PT_NOTE)
	if err := agent.CheckStatic(static); err != nil {
		t.Error(err)
	}
	// It is copied next, from its beginning.
	if at, err := static.Seek(0, io.SeekCurrent); err != nil || at != 0 {
		t.Errorf("it was left at %d, %v", at, err)
	}
	expectError(t, agent.CheckStatic(executable(t, elf.PT_LOAD, elf.PT_INTERP)), "build it with CGO_ENABLED=0, as `make build` does")
	expectError(t, agent.CheckStatic(fileOf(t, []byte("#!/bin/sh\n"))), "this executable cannot be read")
}

func TestServiceFiles(t *testing.T) {
	for _, file := range serviceFiles {
		if strings.HasSuffix(file.path, ".service") && !strings.Contains(file.content, "Environment="+agent.Variable+"=/evenkeel/agent.json\nExecStart="+agentProgram+"\n") {
			t.Errorf("%s is\n%s", file.path, file.content)
		}
	}
}
