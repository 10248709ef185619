package conformance

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// significance is the chance that is accepted of calling any requirement different that is
// not, over all requirements that are compared.
const significance = 0.05

// Diff compares two reports. A verdict that differs is always told. Whether the targets
// break a requirement more or less often is told by Fisher's exact test, and where the
// numbers do not allow that, Diff says so.
func Diff(a, b *Report) report.Difference {
	d := comparison{&report.Difference{}}
	d.Same("topology", a.Target.Topology, b.Target.Topology)
	d.Same("distribution", a.Target.Distribution, b.Target.Distribution)
	d.Same("provider", a.Target.Provider, b.Target.Provider)
	d.Same("members", strings.Join(a.Target.Members, ", "), strings.Join(b.Target.Members, ", "))
	d.Same("releases", strings.Join(a.Target.Releases, ", "), strings.Join(b.Target.Releases, ", "))
	d.Same("evenkeel", a.Harness.Version, b.Harness.Version)
	d.Same("suite", a.Suite, b.Suite)
	d.Same("planted defect", a.Asked.Defect, b.Asked.Defect)
	d.Same("runs planned", fmt.Sprint(a.Runs.Planned), fmt.Sprint(b.Runs.Planned))
	d.Same("verdict", string(a.Verdict), string(b.Verdict))
	inA, inB := byID(a), byID(b)
	tests := 0
	for id, first := range inA {
		if second, both := inB[id]; both && comparable(first, second) {
			tests++
		}
	}
	for _, req := range requirement.All() {
		first, hadA := inA[req.ID]
		second, hasB := inB[req.ID]
		if hadA || hasB {
			d.requirement(req.ID, first, second, tests)
		}
	}
	return *d.Difference
}

func byID(r *Report) map[requirement.ID]Requirement {
	out := map[requirement.ID]Requirement{}
	for _, req := range r.Requirements {
		out[req.ID] = req
	}
	return out
}

// comparable is whether there is anything to test: runs on both sides, and a breach.
func comparable(a, b Requirement) bool {
	return a.MayFail != nil && b.MayFail != nil && a.MayFail.Broken+b.MayFail.Broken > 0
}

// comparison is a Difference that is being made.
type comparison struct{ *report.Difference }

// requirement compares one; tests is how many are tested in all.
func (d comparison) requirement(id requirement.ID, a, b Requirement, tests int) {
	first, second := verdictIn(a), verdictIn(b)
	d.Came(id, first, second)
	if first != second {
		d.Say("%s: %s → %s", id, first, second)
	}
	if !comparable(a, b) {
		return
	}
	x, y := a.MayFail, b.MayFail
	p := Fisher(x.Broken, x.Runs, y.Broken, y.Runs)
	text := fmt.Sprintf("%s: broken in %d of %d runs → %d of %d", id, x.Broken, x.Runs, y.Broken, y.Runs)
	switch {
	case p <= significance/float64(tests):
		d.Say("%s: they differ (Fisher's exact test, p = %.2g)", text, p)
	case x.Broken*y.Runs != y.Broken*x.Runs:
		d.Say("%s: too few runs to tell whether they differ (Fisher's exact test, p = %.2g)", text, p)
	}
}

func verdictIn(r Requirement) check.Verdict {
	if r.Verdict == "" {
		return check.Skipped
	}
	return r.Verdict
}
