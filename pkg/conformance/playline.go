package conformance

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/regular"
)

// ErrNoVerdict is a line of which no try has left a bundle, so that another machine may try.
var ErrNoVerdict = errors.New("no try has left a verdict")

// ReadPlan reads a plan, which may be compressed with gzip, as `evenkeel conformance job`
// writes it.
func ReadPlan(file string) (*Plan, error) {
	raw, err := regular.ReadNamed(file, maxFile)
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	if raw, err = plain(raw); err != nil {
		return nil, fmt.Errorf("read the plan %s: %w", file, err)
	}
	plan, _, err := parsePlan(raw)
	return plan, err
}

// PlayLine plays one line of a plan below o.Dir, and puts its bundles and its record into the
// store. A line that has a record is not played again. This is what a Pod of a Job does.
func PlayLine(ctx context.Context, plan *Plan, line int, store Store, o Options) (*Record, error) {
	raw, err := plan.YAML()
	if err != nil {
		return nil, err
	}
	digest := bundle.ContentDigest(raw)
	if line < 1 || line > len(plan.Lines) {
		return nil, fmt.Errorf("the plan has no line %d: it has %d", line, len(plan.Lines))
	}
	if r, err := readRecord(ctx, store, digest, line); r != nil || err != nil {
		return r, err
	}
	o.Shard = Shard{Index: line, Of: len(plan.Lines)}
	play := func() error { _, err := Begin(ctx, plan, o); return err }
	if Is(o.Dir) {
		play = func() error { _, err := Resume(ctx, o); return err }
	}
	played := play()
	if !Is(o.Dir) || !exists(filepath.Join(o.Dir, JournalFile)) {
		return nil, played
	}
	f, err := openFolder(o.Dir)
	if err != nil {
		return nil, errors.Join(played, err)
	}
	if f.planDigest != digest {
		return nil, fmt.Errorf("the campaign in %s is of another plan: name an empty folder", o.Dir)
	}
	of := f.plan.Lines[line-1]
	tries := f.tries(of)
	if !over(plan, of, tries) {
		return nil, played
	}
	if !slices.ContainsFunc(tries, func(t try) bool { return t.outcome != nil || t.Refused != "" }) {
		return nil, fmt.Errorf("line %d: %w: %s", line, ErrNoVerdict, tries[len(tries)-1].Failed)
	}
	// What was found counts also where the machine is being taken away.
	return f.put(context.WithoutCancel(ctx), of, tries, store)
}

// put puts what came of a line into the store.
func (f *folder) put(ctx context.Context, line Line, tries []try, store Store) (*Record, error) {
	r := &Record{Plan: f.planDigest, Line: line.Number, Verdict: verdictOf(f.plan, line, tries)}
	for _, t := range tries {
		r.Tries = append(r.Tries, t.Ended)
		if t.Digest == "" {
			continue
		}
		if err := putBundle(ctx, store, t.Digest, filepath.Join(f.dir, t.Bundle)); err != nil {
			return nil, err
		}
	}
	return r, putRecord(ctx, store, r)
}

// Passed is whether nothing of the line was broken or stayed open. A line that the target
// refuses is settled, as a clean one is.
func (r *Record) Passed() bool { return r.Verdict == check.Pass || r.Verdict == check.Skipped }
