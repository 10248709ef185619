// Package judge gives the report of a bundle again, as anybody can who has the bundle
// and no cluster: its verdicts follow from the history alone, and of the other files it
// has the digests.
package judge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Bundle judges a bundle again, and changes nothing in it. The report has the digests
// of the files that are there, and keeps the rules of its form: it is an error if it
// does not, since nothing can be told by such a report.
func Bundle(ctx context.Context, dir string) (*report.ConformanceReport, error) {
	rep, err := judge(ctx, dir, func(h history.Header) []string { return h.Judges })
	if err != nil {
		return nil, err
	}
	for name, into := range map[string]*string{
		bundle.ScenarioFile: &rep.Digests.Scenario, bundle.TopologyFile: &rep.Digests.Topology, bundle.EnvironmentFile: &rep.Digests.Environment,
	} {
		*into, err = bundle.FileDigest(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the bundle %s cannot be judged: %w", dir, err)
		}
	}
	if err := rep.Validate(); err != nil {
		return nil, fmt.Errorf("what the history of %s gives is no valid report: %w", dir, err)
	}
	return rep, nil
}

// BundleFor judges a bundle's history for other requirements than the run was
// asked to judge: what was seen may tell of them too.
func BundleFor(ctx context.Context, dir string, ids []string) ([]check.Result, error) {
	rep, err := judge(ctx, dir, func(history.Header) []string { return ids })
	if err != nil {
		return nil, err
	}
	return rep.Results, nil
}

func judge(ctx context.Context, dir string, choose func(history.Header) []string) (*report.ConformanceReport, error) {
	file, err := bundle.History(dir)
	if err != nil {
		return nil, fmt.Errorf("the bundle %s cannot be judged: %w", dir, err)
	}
	reader, err := history.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the bundle %s cannot be judged: it is to be the folder that a run left, and there is no %s", dir, bundle.HistoryFile)
	}
	if err != nil {
		return nil, fmt.Errorf("the bundle %s cannot be judged: %w", dir, err)
	}
	var requirements []requirement.Requirement
	for _, id := range choose(reader.Header) {
		req, ok := requirement.Lookup(requirement.ID(id))
		if !ok {
			return nil, errors.Join(fmt.Errorf("the history is to judge %s, which this evenkeel does not know", id), reader.Close())
		}
		requirements = append(requirements, req)
	}
	claimed, err := requirement.LookupProfiles(reader.Header.Profiles)
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	j, err := check.Judge(interruptible{check.Read(reader), ctx}, requirements)
	if err := errors.Join(err, reader.Close()); err != nil {
		return nil, err
	}
	rep := report.New(j, claimed)
	rep.Digests.History = reader.Digest()
	return rep, nil
}

// interruptible ends a long reading when the context does.
type interruptible struct {
	check.Events
	ctx context.Context
}

func (i interruptible) Next() (*history.Event, error) {
	if i.ctx.Err() != nil {
		return nil, errors.New("it was interrupted")
	}
	return i.Events.Next()
}
