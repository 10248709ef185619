package timeline

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report"
)

// headline says what came of the run, and of how many requirements.
func headline(r *report.ConformanceReport) string {
	counts := map[check.Verdict]int{}
	for _, res := range r.Results {
		counts[res.Verdict]++
	}
	kept, broken, open := counts[check.Pass], counts[check.Fail], counts[check.Inconclusive]+counts[check.Skipped]
	tested := kept + broken + open + counts[check.Deviation]
	out := strings.ToUpper(string(r.Verdict)) + ": "
	switch {
	case broken > 0:
		out += fmt.Sprintf("%d of %d requirements %s broken.", broken, tested, is(broken))
	case kept == tested && kept > 0:
		out += fmt.Sprintf("%d of %d requirements %s kept.", kept, tested, is(kept))
	default:
		out += fmt.Sprintf("no requirement is broken, and %d of %d %s kept.", kept, tested, is(kept))
	}
	for _, more := range []struct {
		n         int
		one, many string
	}{
		{open, "The evidence is not sufficient for %d.", "The evidence is not sufficient for %d."},
		{counts[check.Deviation], "%d differs as documented.", "%d differ as documented."},
		{counts[check.NotApplicable], "%d does not apply to this run.", "%d do not apply to this run."},
		{len(r.NotJudged), "The scenario does not test %d other that the run was to judge.", "The scenario does not test %d others that the run was to judge."},
	} {
		switch {
		case more.n == 1:
			out += " " + fmt.Sprintf(more.one, more.n)
		case more.n > 1:
			out += " " + fmt.Sprintf(more.many, more.n)
		}
	}
	return out
}

// is agrees with a number.
func is(count int) string {
	if count == 1 {
		return "is"
	}
	return "are"
}
