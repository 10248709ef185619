package explore

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// record is a line of the log: what one schedule came to.
type record struct {
	Seed   int64         `json:"seed"`
	Index  int           `json:"index"`
	Parent int           `json:"parent"`
	At     time.Duration `json:"at"`
	Took   time.Duration `json:"took,omitempty"`
	// DrawnFrom is how many schedules there were to vary when it was drawn, and Digest tells
	// whether it is drawn again the same; empty where the schedule was not known any more.
	DrawnFrom int    `json:"drawnFrom,omitempty"`
	Digest    string `json:"digest,omitempty"`
	// New are the features that no schedule before has reached.
	New    []string         `json:"new,omitempty"`
	Finds  []Find           `json:"finds,omitempty"`
	Idle   int              `json:"idle,omitempty"`
	Doubts []string         `json:"doubts,omitempty"`
	Open   []requirement.ID `json:"open,omitempty"`
	Error  string           `json:"error,omitempty"`
}

// journal appends records to a file, each on the disk before the next schedule begins.
type journal struct{ file *os.File }

// openJournal reads the records of a log, and opens it for more. A last line that was cut off, as
// by a full disk or a kill, is left out.
func openJournal(path string) ([]record, *journal, error) {
	records, whole, err := readJournal(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the log of the exploration: %w", err)
	}
	if err := errors.Join(file.Truncate(whole), seekEnd(file)); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open the log of the exploration: %w", err), file.Close())
	}
	return records, &journal{file}, nil
}

func seekEnd(file *os.File) error {
	_, err := file.Seek(0, 2)
	return err
}

// readJournal gives the records, and how many bytes the whole lines have.
func readJournal(path string) (records []record, whole int64, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the log of the exploration: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return records, whole, nil // what follows the last whole line was cut off
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read the log of the exploration: %w", err)
		}
		var r record
		if json.Unmarshal(line, &r) != nil {
			return records, whole, nil
		}
		records = append(records, r)
		whole += int64(len(line))
	}
}

func (j *journal) add(r record) error {
	line, err := json.Marshal(r)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write the log of the exploration, so that it ends: %w", err)
	}
	return nil
}

func (j *journal) close() error { return j.file.Close() }

func writeJSON(path string, value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(raw, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
