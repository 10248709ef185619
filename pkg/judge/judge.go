// Package judge derives the report of a bundle again. It needs the bundle and no cluster:
// the verdicts follow from the history alone, and the report has the digests of the other
// files. Every history is judged by every requirement of the catalog; package report
// decides which of the results a report has.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package judge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

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
	rep, err := judge(ctx, dir)
	if err != nil {
		return nil, err
	}
	for name, into := range map[string]*string{
		bundle.ScenarioFile: &rep.Digests.Scenario, bundle.TopologyFile: &rep.Digests.Topology, bundle.EnvironmentFile: &rep.Digests.Environment,
	} {
		*into, err = bundle.DigestOf(ctx, dir, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the bundle %s cannot be judged: %w", dir, err)
		}
	}
	if err := rep.Validate(); err != nil {
		return nil, fmt.Errorf("what the history of %s gives is no valid report: %w", dir, err)
	}
	return rep, nil
}

func judge(ctx context.Context, dir string) (*report.ConformanceReport, error) {
	file, err := bundle.History(dir)
	if err != nil {
		return nil, fmt.Errorf("the bundle %s cannot be judged: %w", dir, err)
	}
	reader, err := history.Open(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the bundle %s cannot be judged: it is to be the folder that a run left, and there is no %s", dir, bundle.HistoryFile)
	}
	if err != nil {
		return nil, fmt.Errorf("the bundle %s cannot be judged: %w", dir, err)
	}
	if err := checkListed(reader.Header.Judges); err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	claimed, err := requirement.LookupProfiles(reader.Header.Profiles)
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	j, err := check.Judge(check.Read(reader), requirement.All())
	if err := errors.Join(err, reader.Close()); err != nil {
		return nil, err
	}
	rep := report.New(j, claimed)
	rep.Digests.History = reader.Digest()
	return rep, nil
}

// checkListed returns an error for requirements that a report could not list: without
// their results, a report would show less than the run was to judge. That none is there
// twice the reader of histories has checked.
func checkListed(ids []string) error {
	for _, id := range ids {
		if _, ok := requirement.Lookup(requirement.ID(id)); !ok {
			return fmt.Errorf("the history is to judge %s, which this evenkeel does not know", id)
		}
	}
	return nil
}
