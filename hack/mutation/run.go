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
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// starvedTries is how many runs of a defect may leave its requirement open because the machine
// was starved, and be no try: they say nothing of the defect.
const starvedTries = 2

// run plays a defect until it is found, as often as it may be tried.
func run(ctx context.Context, o options, d cluster.Defect) row {
	starved := starvedTries
	if o.again {
		starved = 0 // the bundle stays what it is
	}
	for runs, tries := 1, max(o.tries, 1); ; runs++ {
		r := once(ctx, o, d)
		r.Runs = runs
		if r.starved && starved > 0 {
			starved--
		} else {
			tries--
		}
		if r.Fault == "" || tries == 0 || ctx.Err() != nil {
			return r
		}
	}
}

func once(ctx context.Context, o options, d cluster.Defect) row {
	r := row{Defect: d.ID, Requirement: requirement.ID(d.Requirement)}
	dir := filepath.Join(o.out, d.ID)
	if d.Bound != "" {
		r.Near = fmt.Sprintf("%s %s, planted %s", d.Bound, boundOf(r.Requirement, d.Bound), d.By)
	}
	args := []string{"--defect", d.ID}
	if name, ok := scenarios[d.ID]; ok {
		args = append(args, "--scenario", "fixtures/scenarios/"+name+".yaml")
	}
	var played play.Outcome
	var err error
	if o.again {
		played, err = play.Judge(ctx, o.evenkeel, dir)
	} else {
		played, err = play.Run(ctx, o.evenkeel, dir, args...)
	}
	r.Seconds = int(played.Took.Seconds())
	if err != nil {
		r.Fault = err.Error()
		return r
	}
	r.Scenario, r.Harness = played.Report.Scenario, played.Report.Harness.Version
	r.weigh(played.Report, played.Status)
	slices.Sort(r.Red)
	r.tellOthers(played.Report)
	return r
}

// weigh tells whether a run's report shows the defect.
func (r *row) weigh(rep *report.ConformanceReport, code int) {
	open := false
	// All requirements that the history shows broken are in the report, whether or not
	// the scenario lists them.
	for _, res := range rep.Results {
		switch {
		case res.Verdict == check.Fail:
			r.Red = append(r.Red, res.ID)
		case res.ID == r.Requirement && res.Verdict == check.Inconclusive:
			open = true
			r.starved = slices.ContainsFunc(res.Reasons, law.BlamesStarvation)
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

// tellOthers prints the other requirements that the same history shows broken, with what was
// seen, where also.yaml lacks an explanation.
func (r *row) tellOthers(rep *report.ConformanceReport) {
	for _, res := range rep.Results {
		if res.Verdict == check.Fail && res.ID != r.Requirement && explained[r.Defect][res.ID] == "" {
			fmt.Printf("%s: %s is red too (hack/mutation/also.yaml has to say why): %s\n", r.Defect, res.ID, first(res))
		}
	}
}

// boundOf is the value of a bound or a tolerance of a requirement in words.
func boundOf(id requirement.ID, name string) string {
	for _, r := range requirement.All() {
		for _, b := range slices.Concat(r.Bounds, r.Tolerances) {
			if r.ID == id && b.Name == name {
				return b.Value
			}
		}
	}
	return "that the catalog lacks"
}
