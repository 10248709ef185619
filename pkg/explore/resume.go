package explore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evenkeel/evenkeel/pkg/bundle"
)

// recall takes what a line of the log says of a schedule: what is not new any more, and, if the
// schedule reached something new, the schedule itself, which later ones are varied from.
func (e *explorer) recall(r record) {
	e.next = max(e.next, r.Index+1)
	for _, feature := range r.New {
		e.seen[feature] = true
	}
	for _, f := range r.Finds {
		e.known[f.Fingerprint.String()] = true
	}
	if len(r.New) == 0 || r.Digest == "" || r.DrawnFrom > len(e.corpus) {
		return
	}
	// It follows from its index and from the schedules that were there when it was drawn. With
	// other flags than then it may be another one, which has reached nothing.
	s, err := e.Composer.Compose(r.Index, e.corpus[:r.DrawnFrom])
	if err == nil && s.digest() == r.Digest {
		e.corpus = append(e.corpus, s)
	}
}

// digest tells the files of a schedule from those of another one; empty where they are not known.
func (s *Schedule) digest() string {
	if len(s.Scenario) == 0 {
		return ""
	}
	sum := sha256.New()
	sum.Write(s.Scenario)
	sum.Write(s.Topology)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// recallFolders takes what the folders say of runs that the log has no line of, because the
// exploration was killed before it wrote one.
func (e *explorer) recallFolders() error {
	for _, folder := range []string{findsFolder, keptFolder} {
		left, err := e.foldersIn(folder)
		if err != nil {
			return err
		}
		for _, one := range left {
			var finds []Find
			raw, err := os.ReadFile(filepath.Join(one.path, findFile))
			if err != nil || json.Unmarshal(raw, &finds) != nil {
				continue // no find, or one that the user has changed
			}
			for _, f := range finds {
				e.known[f.Fingerprint.String()] = true
			}
		}
	}
	return nil
}

// scheduled is the folder of a schedule.
type scheduled struct {
	index int
	path  string
}

// foldersIn are the folders of schedules in one of those of the exploration. None of their indexes is
// given to another schedule.
func (e *explorer) foldersIn(folder string) (out []scheduled, err error) {
	left, err := os.ReadDir(filepath.Join(e.Out, folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what the exploration has left: %w", err)
	}
	for _, one := range left {
		if index, ours := indexOf(one.Name()); ours {
			e.next = max(e.next, index+1)
			out = append(out, scheduled{index, filepath.Join(e.Out, folder, one.Name())})
		}
	}
	return out, nil
}

// indexOf is the index of the schedule that a folder is of, whose name begins with it.
func indexOf(name string) (index int, ours bool) {
	_, err := fmt.Sscanf(name, "%d", &index)
	return index, err == nil && index >= 0
}

// salvageAll judges the runs that an earlier exploration has left.
func (e *explorer) salvageAll(ctx context.Context) error {
	left, err := e.foldersIn(runsFolder)
	if err != nil {
		return err
	}
	for _, one := range left {
		if err := e.salvage(ctx, one.index, one.path); err != nil {
			return err
		}
	}
	return nil
}

func (e *explorer) salvage(ctx context.Context, index int, dir string) error {
	s := &Schedule{Seed: e.Composer.Seed, Index: index, Parent: -1}
	story, err := e.Story(ctx, filepath.Join(dir, bundleFolder))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx) // the next exploration judges it
	case err != nil:
		return e.leave(s, dir, false)
	}
	return e.take(s, dir, story, nil)
}

// recorded is whether the run in a folder has come to write a history.
func recorded(dir string) bool {
	at := filepath.Join(dir, bundleFolder)
	return !bundle.Lacks(at, bundle.HistoryFile) || !bundle.Lacks(at, bundle.HistoryFile+bundle.Compressed)
}
