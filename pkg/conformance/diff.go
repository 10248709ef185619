package conformance

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// significance is the chance that is accepted of calling any requirement different that is
// not, over all requirements that are compared.
const significance = 0.05

// Difference of two campaigns.
type Difference struct {
	// Lines say what differs, one thing each.
	Lines []string
	// Worse are the requirements that came out worse in the second.
	Worse []requirement.ID
}

// Diff compares two reports. A verdict that differs is always told. Whether the targets
// break a requirement more or less often is told by Fisher's exact test, and where the
// numbers do not allow that, Diff says so.
func Diff(a, b *Report) Difference {
	d := &Difference{}
	d.same("topology", a.Target.Topology, b.Target.Topology)
	d.same("distribution", a.Target.Distribution, b.Target.Distribution)
	d.same("provider", a.Target.Provider, b.Target.Provider)
	d.same("members", strings.Join(a.Target.Members, ", "), strings.Join(b.Target.Members, ", "))
	d.same("releases", strings.Join(a.Target.Releases, ", "), strings.Join(b.Target.Releases, ", "))
	d.same("evenkeel", a.Harness.Version, b.Harness.Version)
	d.same("suite", a.Suite, b.Suite)
	d.same("planted defect", a.Asked.Defect, b.Asked.Defect)
	d.same("runs planned", fmt.Sprint(a.Runs.Planned), fmt.Sprint(b.Runs.Planned))
	d.same("verdict", string(a.Verdict), string(b.Verdict))
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
	return *d
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

func (d *Difference) line(format string, args ...any) {
	d.Lines = append(d.Lines, fmt.Sprintf(format, args...))
}

func (d *Difference) same(what, a, b string) {
	if a != b {
		d.line("%s: %s → %s", what, orNone(a), orNone(b))
	}
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// requirement compares one; tests is how many are tested in all.
func (d *Difference) requirement(id requirement.ID, a, b Requirement, tests int) {
	first, second := verdictIn(a), verdictIn(b)
	if rank(second) > rank(first) {
		d.Worse = append(d.Worse, id)
	}
	if first != second {
		d.line("%s: %s → %s", id, first, second)
	}
	if !comparable(a, b) {
		return
	}
	x, y := a.MayFail, b.MayFail
	p := Fisher(x.Broken, x.Runs, y.Broken, y.Runs)
	text := fmt.Sprintf("%s: broken in %d of %d runs → %d of %d", id, x.Broken, x.Runs, y.Broken, y.Runs)
	switch {
	case p <= significance/float64(tests):
		d.line("%s: they differ (Fisher's exact test, p = %.2g)", text, p)
	case x.Broken*y.Runs != y.Broken*x.Runs:
		d.line("%s: too few runs to tell whether they differ (Fisher's exact test, p = %.2g)", text, p)
	}
}

func verdictIn(r Requirement) check.Verdict {
	if r.Verdict == "" {
		return check.Skipped
	}
	return r.Verdict
}

// rank orders verdicts from good to bad, as in comparisons of runs.
func rank(v check.Verdict) int {
	switch v {
	case check.Pass, check.NotApplicable:
		return 0
	case check.Deviation:
		return 1
	case check.Fail:
		return 3
	default:
		return 2
	}
}
