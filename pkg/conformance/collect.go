package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evenkeel/evenkeel/pkg/regular"
)

// Collect merges campaigns that played parts of one plan into a new folder, and makes the
// report of all of them. Two different bundles for one try of a line are refused: one of the
// runs would have to be left out, and nothing says which.
func Collect(dirs []string, into string) (*Report, error) {
	if entries, err := os.ReadDir(into); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("the folder %s is not empty: name a new one with --out", into)
	}
	merged, planned, err := merge(dirs)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(into, RunsDir), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the campaign: %w", err)
	}
	if err := writeWhole(filepath.Join(into, PlanFile), planned); err != nil {
		return nil, fmt.Errorf("write the plan: %w", err)
	}
	var journal bytes.Buffer
	lines := json.NewEncoder(&journal)
	lines.SetEscapeHTML(false)
	err = lines.Encode(Entry{Begun: &Begun{Plan: merged.digest}})
	for _, e := range merged.ended() {
		err = errors.Join(err, merged.copy(e, into), lines.Encode(Entry{Ended: &e}))
	}
	if err != nil {
		return nil, err
	}
	if err := writeWhole(filepath.Join(into, JournalFile), journal.Bytes()); err != nil {
		return nil, fmt.Errorf("write the journal: %w", err)
	}
	f, err := openFolder(into)
	if err != nil {
		return nil, err
	}
	rep, err := f.compute()
	if err != nil {
		return nil, err
	}
	return rep, f.write(rep)
}

// mergedTries are the tries of several campaigns.
type mergedTries struct {
	digest string
	of     map[int][]Ended
	// from is the campaign that has the tries of a line.
	from map[int]string
}

// merge reads the campaigns, and gives their one plan too.
func merge(dirs []string) (m *mergedTries, planned []byte, err error) {
	m = &mergedTries{of: map[int][]Ended{}, from: map[int]string{}}
	for _, dir := range dirs {
		f, err := openFolder(dir)
		if err != nil {
			return nil, nil, err
		}
		raw, err := regular.ReadFile(filepath.Join(dir, PlanFile), maxFile)
		if err != nil {
			return nil, nil, fmt.Errorf("read the plan: %w", err)
		}
		if planned != nil && !bytes.Equal(planned, raw) {
			return nil, nil, fmt.Errorf("%s plays another plan than %s: collect parts of one plan, which need the same evenkeel, flags and --seed", dir, dirs[0])
		}
		planned, m.digest = raw, f.planDigest
		for line, tries := range f.state.ended {
			if err := m.add(dir, line, tries); err != nil {
				return nil, nil, err
			}
		}
	}
	return m, planned, nil
}

// add enters the tries of a line.
func (m *mergedTries) add(dir string, line int, tries []Ended) error {
	before, twice := m.of[line]
	if !twice {
		m.of[line], m.from[line] = tries, dir
		return nil
	}
	for i := range min(len(before), len(tries)) {
		if before[i].Digest != tries[i].Digest {
			return fmt.Errorf("%s and %s have two different bundles for try %d of line %d, and a run counts once: leave one of the two out", m.from[line], dir, i+1, line)
		}
	}
	if len(tries) > len(before) {
		m.of[line], m.from[line] = tries, dir
	}
	return nil
}

// ended are all tries, by line and try.
func (m *mergedTries) ended() []Ended {
	return (&state{ended: m.of}).all()
}

// copy copies the bundle of a try.
func (m *mergedTries) copy(e Ended, into string) error {
	if e.Bundle == "" {
		return nil
	}
	from := filepath.Join(m.from[e.Line], e.Bundle)
	if !exists(from) && e.Digest == "" {
		return nil
	}
	if err := copyBundle(from, filepath.Join(into, e.Bundle)); err != nil {
		return fmt.Errorf("copy the bundle of line %d: %w", e.Line, err)
	}
	return nil
}

// copyBundle copies a folder of regular files. os.CopyFS refuses links.
func copyBundle(from, to string) error {
	return os.CopyFS(to, os.DirFS(from))
}
