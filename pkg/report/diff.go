package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Difference of two runs, or of what two campaigns of runs came to.
type Difference struct {
	// Lines say what differs, one thing each.
	Lines []string
	// Worse are the requirements that came out worse in the second.
	Worse []requirement.ID
}

// Diff compares two runs: who was under test, what was played, how long it took
// and how each requirement came out. How often something was seen differs from
// run to run and is no difference; whether it was seen at all, or often enough,
// is one.
func Diff(a, b *ConformanceReport) Difference {
	d := &Difference{}
	d.Same("distribution", a.Target.Distribution, b.Target.Distribution)
	d.Same("provider", a.Target.Provider, b.Target.Provider)
	d.Same("members", memberNames(a), memberNames(b))
	d.Same("releases", strings.Join(a.Target.Releases, ", "), strings.Join(b.Target.Releases, ", "))
	d.Same("scenario", a.Scenario, b.Scenario)
	d.Same("seed", fmt.Sprint(a.Seed), fmt.Sprint(b.Seed))
	d.Same("settings", settingsOf(a), settingsOf(b))
	d.Same("features off", switchedOff(a), switchedOff(b))
	d.Same("harness", a.Harness.Version, b.Harness.Version)
	d.Same("implementation", answering(a), answering(b))
	d.Same("planted defect", a.Defect, b.Defect)
	d.Same("strict", fmt.Sprint(a.Strict), fmt.Sprint(b.Strict))
	d.Same("played to its end", fmt.Sprint(a.Complete), fmt.Sprint(b.Complete))
	d.Same("took", a.Took.Round(100*time.Millisecond).String(), b.Took.Round(100*time.Millisecond).String())
	d.Same("doubts", strings.Join(a.Doubts, "; "), strings.Join(b.Doubts, "; "))
	d.faults(a.Faults, b.Faults)
	d.states(a.States, b.States)
	d.Same("verdict", string(a.Verdict), string(b.Verdict))
	of := func(r *ConformanceReport) map[requirement.ID]check.Result {
		out := map[requirement.ID]check.Result{}
		for _, res := range r.Results {
			out[res.ID] = res
		}
		return out
	}
	inA, inB := of(a), of(b)
	for _, req := range requirement.All() {
		first, hadA := inA[req.ID]
		second, hasB := inB[req.ID]
		if hadA || hasB {
			d.results(req.ID, first, second)
		}
	}
	return *d
}

// Say adds a line.
func (d *Difference) Say(format string, args ...any) {
	d.Lines = append(d.Lines, fmt.Sprintf(format, args...))
}

// Same adds a line about what is not the same on both sides.
func (d *Difference) Same(what, a, b string) {
	if a != b {
		d.Say("%s: %s → %s", what, orNone(a), orNone(b))
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func memberNames(r *ConformanceReport) string {
	var out []string
	for _, m := range r.Target.Members {
		out = append(out, m.Name)
	}
	return strings.Join(out, ", ")
}

// settingsOf are those that the topology makes, where the history tells of them.
func settingsOf(r *ConformanceReport) string {
	if r.Target.Topology == nil {
		return ""
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.Target.Topology.Settings)) {
		out = append(out, name+" "+r.Target.Topology.Settings[name])
	}
	return strings.Join(out, ", ")
}

// switchedOff are the features that members were started without.
func switchedOff(r *ConformanceReport) string {
	var out []string
	for _, o := range r.Target.SwitchedOff {
		out = append(out, fmt.Sprintf("%s at %s", o.Feature, strings.Join(o.Members, " and ")))
	}
	return strings.Join(out, ", ")
}

// answering is who answers for the control plane, in a few words.
func answering(r *ConformanceReport) string {
	if r.Implementation == nil {
		return ""
	}
	return fmt.Sprintf("%s %s of %s", r.Implementation.Project, r.Implementation.Version, r.Implementation.Organization)
}

// faults are compared by what they are, where they hit and how they came out.
func (d *Difference) faults(a, b []check.FaultSeen) {
	tell := func(f check.FaultSeen) string {
		out := strings.TrimSpace(fmt.Sprintf("%s (%s %s on %s %s", f.ID, f.Type, f.Action, f.Member, f.Component)) + ")"
		if f.Witness == "" {
			out += ", without proof that it bit"
		}
		if !f.Healed {
			out += ", not healed"
		}
		return out
	}
	onlyIn(d, "fault", a, b, tell)
}

func (d *Difference) states(a, b []State) {
	onlyIn(d, "state", a, b, func(h State) string {
		var members []string
		for _, member := range slices.Sorted(maps.Keys(h.Releases)) {
			members = append(members, member+" "+h.Releases[member])
		}
		return fmt.Sprintf("%s (%s)", h.Name, strings.Join(members, ", "))
	})
}

// onlyIn tells what one of two lists has more often than the other.
func onlyIn[T any](d *Difference, what string, a, b []T, tell func(T) string) {
	more := map[string]int{}
	var order []string
	for i, list := range [][]T{a, b} {
		for _, one := range list {
			told := tell(one)
			if _, known := more[told]; !known {
				order = append(order, told)
			}
			more[told] += 1 - 2*i
		}
	}
	for _, told := range order {
		for ; more[told] > 0; more[told]-- {
			d.Say("only in the first run, %s: %s", what, told)
		}
		for ; more[told] < 0; more[told]++ {
			d.Say("only in the second run, %s: %s", what, told)
		}
	}
}

// results compares how one requirement came out.
func (d *Difference) results(id requirement.ID, a, b check.Result) {
	first, second := verdictOf(a), verdictOf(b)
	if first != second {
		d.Say("%s: %s%s → %s%s", id, first, ifUnlisted(a), second, ifUnlisted(b))
	}
	d.Came(id, first, second)
	if a.Verdict == "" || b.Verdict == "" {
		return
	}
	before := map[string]check.Observation{}
	for _, o := range a.Observations {
		before[o.What] = o
	}
	for _, o := range b.Observations {
		was, ok := before[o.What]
		delete(before, o.What)
		switch {
		case !ok:
			d.Say("%s: only the second run counts %q (%d, needs %d)", id, o.What, o.Seen, o.Need)
		case was.Need != o.Need || (was.Seen == 0) != (o.Seen == 0) || (was.Seen < was.Need) != (o.Seen < o.Need):
			d.Say("%s: %q %d of %d needed → %d of %d", id, o.What, was.Seen, was.Need, o.Seen, o.Need)
		}
	}
	for _, o := range a.Observations {
		if _, gone := before[o.What]; gone {
			d.Say("%s: only the first run counts %q (%d, needs %d)", id, o.What, o.Seen, o.Need)
		}
	}
}

func verdictOf(res check.Result) check.Verdict {
	if res.Verdict == "" {
		return check.Skipped
	}
	return res.Verdict
}

// ifUnlisted marks a result that is in the report only because of a violation.
func ifUnlisted(res check.Result) string {
	if res.Unlisted {
		return " (unlisted)"
	}
	return ""
}

// rank orders verdicts from good to bad. A requirement that is not judged any more ranks
// like one that is inconclusive.
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

// Came notes a requirement that came out worse in the second.
func (d *Difference) Came(id requirement.ID, first, second check.Verdict) {
	if rank(second) > rank(first) {
		d.Worse = append(d.Worse, id)
	}
}
