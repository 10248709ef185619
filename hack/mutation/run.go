package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/hack/internal/play"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/judge"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/scenario"
)

// run plays a defect until it is found, as often as it may be tried.
func run(ctx context.Context, o options, d cluster.Defect) row {
	var r row
	for n := range max(o.tries, 1) {
		r = once(ctx, o, d)
		r.Runs = n + 1
		if r.Fault == "" || ctx.Err() != nil {
			break
		}
	}
	return r
}

func once(ctx context.Context, o options, d cluster.Defect) row {
	r := row{Defect: d.ID, Requirement: requirement.ID(d.Requirement)}
	dir := filepath.Join(o.out, d.ID)
	played, err := play.Run(ctx, o.evenkeel, dir, "--defect", d.ID)
	r.Seconds = int(played.Took.Seconds())
	if err != nil {
		r.Fault = err.Error()
		return r
	}
	r.Scenario, r.Harness = played.Report.Scenario, played.Report.Harness.Version
	r.weigh(played.Report, played.Status)
	if r.Fault == "" {
		r.Red = append(r.Red, besides(ctx, dir, r)...)
		slices.Sort(r.Red)
	}
	return r
}

// weigh tells whether a run's report shows the defect.
func (r *row) weigh(rep *report.ConformanceReport, code int) {
	open := false
	for _, res := range rep.Results {
		switch {
		case res.Verdict == check.Fail:
			r.Red = append(r.Red, res.ID)
		case res.ID == r.Requirement && res.Verdict == check.Inconclusive:
			open = true
		}
	}
	switch {
	case rep.Defect != r.Defect:
		r.Fault = fmt.Sprintf("the report is of a run with the defect %q", rep.Defect)
	case open:
		r.Fault = fmt.Sprintf("%s stayed open (exit status %d)", r.Requirement, code)
	case !slices.Contains(r.Red, r.Requirement):
		r.Fault = fmt.Sprintf("%s is not red (exit status %d)", r.Requirement, code)
	case code != exit.Fail:
		r.Fault = fmt.Sprintf("exit status %d instead of %d", code, exit.Fail)
	}
}

// first is what is told of a red requirement at first.
func first(res check.Result) string {
	if len(res.Violations) > 0 {
		return res.Violations[0].Message
	}
	return strings.Join(res.Reasons, "; ")
}

// besides are the other requirements that the scenario can judge and that are red
// in the same history.
func besides(ctx context.Context, dir string, r row) []requirement.ID {
	s, err := scenario.Load(filepath.Join("fixtures/scenarios", r.Scenario+".yaml"))
	if err != nil {
		fmt.Printf("%s: what else turned red is not known: %v\n", r.Defect, err)
		return nil
	}
	others := slices.DeleteFunc(s.Judges, func(id string) bool { return slices.Contains(r.Red, requirement.ID(id)) })
	results, err := judge.BundleFor(ctx, dir, others)
	if err != nil {
		fmt.Printf("%s: what else turned red is not known: %v\n", r.Defect, err)
		return nil
	}
	var red []requirement.ID
	for _, res := range results {
		if res.Verdict == check.Fail {
			red = append(red, res.ID)
			// Whoever explains it in also.yaml wants to know what was seen.
			fmt.Printf("%s: %s is red too: %s\n", r.Defect, res.ID, first(res))
		}
	}
	return red
}
