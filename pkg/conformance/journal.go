package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/evenkeel/evenkeel/pkg/regular"
)

// Entry is a line of the journal; one of its fields is set.
type Entry struct {
	Begun   *Begun   `json:"begun,omitempty"`
	Started *Started `json:"started,omitempty"`
	Ended   *Ended   `json:"ended,omitempty"`
}

// Begun is the first entry: which plan the journal is of.
type Begun struct {
	// Plan is the SHA-256 of plan.yaml, in hexadecimal.
	Plan string `json:"plan"`
	// Shard that is played here; empty where it is all of the plan.
	Shard string `json:"shard,omitempty"`
	// Parallel is how many runs are played at a time, or Auto.
	Parallel int `json:"parallel,omitempty"`
}

// Started is written before a run begins, so that no run is played that the journal does
// not know of, and once more with its process as soon as there is one.
type Started struct {
	Line int `json:"line"`
	Try  int `json:"try"`
	// Bundle is the folder of the bundle, below the campaign.
	Bundle string `json:"bundle"`
	// Process is the run's; nil before it is there.
	Process *Process `json:"process,omitempty"`
}

// Process identifies a process of this machine across reuse of process IDs and reboots.
type Process struct {
	PID       int    `json:"pid"`
	StartTime int64  `json:"startTime"`
	Boot      string `json:"boot"`
}

// Ended is what came of a run. Exactly one of Digest, Refused and Failed is set.
type Ended struct {
	Line int `json:"line"`
	Try  int `json:"try"`
	// Bundle is the folder of the bundle, below the campaign.
	Bundle string `json:"bundle,omitempty"`
	// Digest is the digest of the bundle's evidence; see report.Digests.Evidence.
	Digest string `json:"digest,omitempty"`
	// Refused is why the target cannot be played on with this scenario.
	Refused string `json:"refused,omitempty"`
	// Failed is why the run left no verdict to count.
	Failed string `json:"failed,omitempty"`
	// Seconds that it took.
	Seconds int `json:"seconds"`
}

// place names the run for a reader: where it is in the plan, and the folder to look at.
func (e Ended) place() string {
	at := fmt.Sprintf("line %d, try %d", e.Line, e.Try)
	if e.Bundle == "" {
		return at
	}
	return at + " (" + e.Bundle + ")"
}

// Journal is an append-only file. Each entry is on the disk before Append returns. Append
// may be called from several goroutines.
type Journal struct {
	mu   sync.Mutex
	file *os.File
}

// openJournal opens the journal for appending, and creates it if there is none. It holds a
// lock, so that two processes never play the same campaign, and cuts off a last line that a
// crash left half-written.
func openJournal(dir string) (*Journal, []Entry, error) {
	path := filepath.Join(dir, JournalFile)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("open the journal: %w", err)
	}
	j := &Journal{file: file}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = fmt.Errorf("another evenkeel is playing the campaign %s: wait for it, or end it first", dir)
		}
		return nil, nil, errors.Join(err, file.Close())
	}
	raw, err := regular.ReadFile(path, maxFile)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read the journal: %w", err), file.Close())
	}
	whole := raw[:bytes.LastIndexByte(raw, '\n')+1]
	if len(whole) < len(raw) {
		if err := file.Truncate(int64(len(whole))); err != nil {
			return nil, nil, errors.Join(fmt.Errorf("mend the journal: %w", err), file.Close())
		}
	}
	entries, err := parseJournal(whole)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return j, entries, nil
}

// Append writes an entry and waits until it is on the disk.
func (j *Journal) Append(e Entry) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode an entry of the journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("write the journal to the disk: %w", err)
	}
	return nil
}

// Close gives up the lock.
func (j *Journal) Close() error { return j.file.Close() }

// readJournal reads a journal, and gives its bytes too. A last line that a crash left
// half-written is no entry; whole says whether there is none.
func readJournal(dir string) (entries []Entry, raw []byte, whole bool, err error) {
	raw, err = regular.ReadFile(filepath.Join(dir, JournalFile), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, false, fmt.Errorf("%s has no %s: name the folder of a campaign, which `evenkeel conformance run --out` made", dir, JournalFile)
	}
	if err != nil {
		return nil, nil, false, fmt.Errorf("read the journal: %w", err)
	}
	end := bytes.LastIndexByte(raw, '\n') + 1
	entries, err = parseJournal(raw[:end])
	return entries, raw, end == len(raw), err
}

func parseJournal(raw []byte) ([]Entry, error) {
	var out []Entry
	number := 0
	for line := range bytes.Lines(raw) {
		number++
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		var e Entry
		if err := decoder.Decode(&e); err != nil || decoder.More() {
			return nil, fmt.Errorf("line %d of %s is no entry: %w", number, JournalFile, errors.Join(err, errors.New("the file was changed")))
		}
		if err := e.validate(number); err != nil {
			return nil, fmt.Errorf("line %d of %s: %w", number, JournalFile, err)
		}
		out = append(out, e)
	}
	return out, nil
}

func (e Entry) validate(number int) error {
	set := 0
	for _, is := range []bool{e.Begun != nil, e.Started != nil, e.Ended != nil} {
		if is {
			set++
		}
	}
	if set != 1 || (e.Begun != nil) != (number == 1) {
		return errors.New("the first entry says which plan it is of, and each other one of a run that it has started or ended")
	}
	if e.Started != nil && !local(e.Started.Bundle) || e.Ended != nil && e.Ended.Bundle != "" && !local(e.Ended.Bundle) {
		return errors.New("its bundle is not below the campaign")
	}
	if e.Ended != nil {
		said := 0
		for _, text := range []string{e.Ended.Digest, e.Ended.Refused, e.Ended.Failed} {
			if text != "" {
				said++
			}
		}
		if said != 1 {
			return errors.New("a run has ended with a bundle, refused or failed, and with one of these alone")
		}
	}
	return nil
}

func local(path string) bool { return filepath.IsLocal(path) && path != "." }
