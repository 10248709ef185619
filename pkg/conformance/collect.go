package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/regular"
)

// Collect merges campaigns that played parts of one plan into a new folder, and makes the
// report of all of them. Two different bundles for one try of a line are refused: one of the
// runs would have to be left out, and nothing says which.
func Collect(dirs []string, into string) (*Report, error) {
	merged, planned, err := merge(dirs)
	if err != nil {
		return nil, err
	}
	return merged.write(planned, into)
}

// CollectStore makes a campaign of what is in a store of the lines of a plan.
func CollectStore(ctx context.Context, plan *Plan, store Store, into string) (*Report, error) {
	planned, err := plan.YAML()
	if err != nil {
		return nil, err
	}
	m := newMerged()
	m.digest = bundle.ContentDigest(planned)
	for _, line := range plan.Lines {
		if err := refuseConflict(ctx, store, m.digest, line.Number); err != nil {
			return nil, err
		}
		r, err := readRecord(ctx, store, m.digest, line.Number)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		m.of[line.Number] = r.Tries
		m.copy[line.Number] = func(e Ended, to string) error {
			if e.Digest == "" {
				return nil
			}
			from, done, err := store.Fetch(ctx, e.Digest)
			if err != nil {
				return err
			}
			defer done()
			return os.CopyFS(to, os.DirFS(from))
		}
	}
	return m.write(planned, into)
}

// write writes the merged campaign.
func (m *mergedTries) write(planned []byte, into string) (*Report, error) {
	if entries, err := os.ReadDir(into); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("the folder %s is not empty: name a new one with --out", into)
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
	err := lines.Encode(Entry{Begun: &Begun{Plan: m.digest}})
	for _, e := range (&state{ended: m.of}).all() {
		if e.Bundle != "" {
			if err := m.copy[e.Line](e, filepath.Join(into, e.Bundle)); err != nil {
				return nil, fmt.Errorf("copy the bundle of line %d: %w", e.Line, err)
			}
		}
		err = errors.Join(err, lines.Encode(Entry{Ended: &e}))
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
	// from is the campaign that has the tries of a line, and copy copies a bundle of it.
	from map[int]string
	copy map[int]func(e Ended, to string) error
}

func newMerged() *mergedTries {
	return &mergedTries{of: map[int][]Ended{}, from: map[int]string{}, copy: map[int]func(Ended, string) error{}}
}

// merge reads the campaigns, and gives their one plan too.
func merge(dirs []string) (m *mergedTries, planned []byte, err error) {
	m = newMerged()
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
	before := m.of[line]
	for i := range min(len(before), len(tries)) {
		if before[i].Digest != tries[i].Digest {
			return fmt.Errorf("%s and %s have two different bundles for try %d of line %d, and a run counts once: leave one of the two out", m.from[line], dir, i+1, line)
		}
	}
	if len(tries) <= len(before) {
		return nil
	}
	m.of[line], m.from[line] = tries, dir
	m.copy[line] = func(e Ended, to string) error {
		from := filepath.Join(dir, e.Bundle)
		if !exists(from) && e.Digest == "" {
			return nil
		}
		return os.CopyFS(to, os.DirFS(from))
	}
	return nil
}
