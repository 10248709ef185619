package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Story is what a history says of one run.
type Story struct {
	// Features are the combinations that the run reached, sorted; see states.
	Features []string
	// Finds are the fingerprints of what failed, sorted, each with its first breach.
	Finds []Find
	// Idle are the faults that never took effect: what they were to hit did not come.
	Idle int
	// Doubts are other reasons not to trust any pass, and Open the requirements with obligations that
	// stayed open or unclear.
	Doubts []string
	Open   []requirement.ID
	// Passed are the requirements that the run shows kept.
	Passed []requirement.ID
	Took   time.Duration
}

// StoryOf reads the history of a bundle.
func StoryOf(ctx context.Context, dir string) (story *Story, err error) {
	file, err := bundle.History(dir)
	if err != nil {
		return nil, fmt.Errorf("the bundle %s cannot be read: %w", dir, err)
	}
	reader, err := history.Open(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("the bundle %s cannot be read: %w", dir, err)
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	return Tell(check.Read(reader))
}

// Tell judges a history and follows the states that it went through.
func Tell(events check.Events) (*Story, error) {
	judging := check.Begin(events.Header(), requirement.All())
	states := newStates(events.Header())
	for {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the history: %w", err)
		}
		judging.Take(ev)
		states.take(ev)
	}
	judgement := judging.End(events.Damage())
	obligations := judging.Obligations()
	story := &Story{Took: judgement.Took, Features: states.features(obligations)}
	for _, f := range judgement.Faults {
		if f.Witness == "" {
			story.Idle++
		}
	}
	story.Doubts = slices.DeleteFunc(judgement.Doubts, check.NeverBit)
	for _, r := range judgement.Results {
		switch c := r.Obligations; {
		case r.Verdict == check.Fail:
			story.Finds = append(story.Finds, findsOf(&r, obligations[r.ID], states)...)
		case r.Verdict == check.Pass:
			story.Passed = append(story.Passed, r.ID)
		case c != nil && c.Unclear+c.Open > 0:
			story.Open = append(story.Open, r.ID)
		}
	}
	slices.SortFunc(story.Finds, func(a, b Find) int { return strings.Compare(a.Fingerprint.String(), b.Fingerprint.String()) })
	story.Finds = slices.CompactFunc(story.Finds, func(a, b Find) bool { return a.Fingerprint == b.Fingerprint })
	return story, nil
}

// breached are the obligations of a requirement that were not kept.
func breached(entries []law.Entry) (out []law.Entry) {
	for _, e := range entries {
		if e.Ending == law.Late || e.Ending == law.Broken {
			out = append(out, e)
		}
	}
	return out
}
