package explore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/regular"
)

// FindIn is what a bundle shows, and the candidate that it played. With a requirement only the
// finds of that one count. The seed and the defect are those that it was played with.
type FindIn struct {
	Find
	Candidate
	Seed   int64
	Defect string
}

// ReadFind reads the find of a bundle: its first one, or that of a requirement.
func ReadFind(ctx context.Context, dir, requirement string) (*FindIn, error) {
	if !bundle.Lacks(dir, bundleFolder) {
		dir = filepath.Join(dir, bundleFolder) // the folder of a find
	}
	story, err := StoryOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(story.Finds, func(f Find) bool { return requirement == "" || f.Fingerprint.Requirement == requirement })
	if at < 0 {
		return nil, fmt.Errorf("the bundle %s shows no requirement broken that could be made smaller", dir)
	}
	out := &FindIn{Find: story.Finds[at]}
	header, err := headerOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	out.Seed, out.Defect = header.Seed, header.Defect
	for name, into := range map[string]*[]byte{bundle.ScenarioFile: &out.Scenario, bundle.TopologyFile: &out.Topology} {
		if *into, err = regular.ReadFile(filepath.Join(dir, name), bundle.MaxText); err != nil {
			return nil, fmt.Errorf("the bundle %s cannot be played again: %w", dir, err)
		}
	}
	return out, nil
}

func headerOf(ctx context.Context, dir string) (header history.Header, err error) {
	file, err := bundle.History(dir)
	if err != nil {
		return header, err
	}
	reader, err := history.Open(ctx, file)
	if err != nil {
		return header, err
	}
	return reader.Header, reader.Close()
}

// Showing is for Shrinker.Shows: it plays a candidate below a folder, and looks for the
// fingerprint in what the run shows. The bundle of the last run that showed it stays there.
func (r Runs) Showing(find *FindIn, dir string) func(context.Context, Candidate) (bool, error) {
	runs := 0
	return func(ctx context.Context, c Candidate) (shown bool, err error) {
		runs++
		at := filepath.Join(dir, fmt.Sprint(runs))
		// What was shrunk here before and was killed may have left the run of another candidate.
		if err := errors.Join(os.RemoveAll(at), c.write(at)); err != nil {
			return false, err
		}
		playErr := r.play(ctx, filepath.Join(at, scenarioFile), filepath.Join(at, topologyFile), find.Seed, filepath.Join(at, bundleFolder))
		story, err := StoryOf(context.WithoutCancel(ctx), filepath.Join(at, bundleFolder))
		if err != nil {
			return false, errors.Join(playErr, err, os.RemoveAll(at))
		}
		shown = slices.ContainsFunc(story.Finds, func(f Find) bool { return f.Fingerprint == find.Fingerprint })
		if !shown {
			return false, os.RemoveAll(at)
		}
		last := filepath.Join(dir, lastShown)
		return true, errors.Join(os.RemoveAll(last), os.Rename(at, last))
	}
}

// lastShown is the folder of the last run that showed the find.
const lastShown = "shown"

func (c Candidate) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make a folder for a run: %w", err)
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, scenarioFile), c.Scenario, 0o600), os.WriteFile(filepath.Join(dir, topologyFile), c.Topology, 0o600))
}

// Write writes the files of the smallest candidate into a folder.
func (s *Shrunk) Write(dir string) error { return s.write(dir) }
