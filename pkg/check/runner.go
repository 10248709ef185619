package check

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// runner is a check at work, with what keeps it honest.
type runner struct {
	req     requirement.Requirement
	entry   entry
	check   Check
	crashed string
	// lost counts questions that were never answered.
	lost int64
	// inapplicable is why the requirement cannot be put to the test; there is no check
	// then.
	inapplicable string
}

func newRunner(req requirement.Requirement, header history.Header) *runner {
	r := &runner{req: req}
	if why, ok := Inapplicable(req.ID, header); ok {
		r.inapplicable = why
		return r
	}
	if e, ok := registry[req.ID]; ok {
		r.entry = e
		r.check = e.make()
		r.check.found().sources = e.sources
		if !header.Strict {
			r.check.found().documented = requirement.DeviationsFrom(req.ID, header.Distribution)
		}
	}
	return r
}

func (r *runner) observe(w *World, ev *history.Event) {
	if r.check == nil || r.crashed != "" {
		return
	}
	defer r.leave(w, r.enter(w))
	r.check.Observe(w, ev)
}

func (r *runner) finish(w *World) {
	if r.check == nil || r.crashed != "" {
		return
	}
	defer r.leave(w, r.enter(w))
	r.check.Finish(w)
}

// answer runs what the check had put off.
func (r *runner) answer(w *World, do func()) {
	if r.crashed != "" {
		return
	}
	defer r.leave(w, r.enter(w))
	do()
}

// leave ends a step of the check; defer it. A check that panics has judged
// nothing: it stays inconclusive, and the others go on.
func (r *runner) leave(w *World, asking *runner) {
	w.asking = asking
	if p := recover(); p != nil {
		r.crashed = fmt.Sprintf("the check itself crashed: %v", p)
	}
}

// enter begins a step of the check; it returns what leave must be given.
func (r *runner) enter(w *World) (asking *runner) {
	asking, w.asking = w.asking, r
	r.check.found().line = w.seq
	return asking
}

func (r *runner) observations(w *World) (out []Observation) {
	if r.crashed != "" {
		return nil
	}
	defer r.leave(w, r.enter(w))
	return r.check.Observations()
}

// result weighs what the check found. Doubts about the history as a whole can
// turn a pass into inconclusive, never anything into a pass.
func (r *runner) result(w *World, doubts []string) Result {
	res := Result{ID: r.req.ID, Level: r.req.Level, Promise: r.req.Promise}
	if r.inapplicable != "" {
		res.Verdict, res.Reasons = NotApplicable, []string{r.inapplicable}
		return res
	}
	if r.check == nil {
		res.Verdict = Skipped
		res.Reasons = []string{"no check for it is built in yet"}
		return res
	}
	found := r.check.found()
	res.Violations, res.ViolationCount, res.Deviations = found.violations, found.count, found.deviating
	res.Observations = r.observations(w)
	res.Reasons = append(r.reasons(w, res.Observations), doubts...)
	switch {
	case res.ViolationCount > 0:
		res.Verdict = Fail
	case len(res.Reasons) > 0:
		res.Verdict = Inconclusive
	case len(res.Deviations) > 0:
		res.Verdict = Deviation
	default:
		res.Verdict = Pass
	}
	return res
}

// reasons are those of this check not to pass.
func (r *runner) reasons(w *World, observations []Observation) []string {
	var out []string
	if r.crashed != "" {
		return []string{r.crashed}
	}
	for _, o := range observations {
		if o.Seen < o.Need {
			out = append(out, fmt.Sprintf("saw %d %s, and needs at least %d", o.Seen, o.What, o.Need))
		}
	}
	if len(observations) == 0 {
		out = append(out, "the check counted nothing")
	}
	if d, ok := r.check.(doubter); ok {
		out = append(out, d.doubts()...)
	}
	if r.lost > 0 {
		out = append(out, fmt.Sprintf("%d things could not be judged: what etcd told ends at revision %d, before theirs", r.lost, w.Revision))
	}
	if r.entry.relies&onLooks != 0 {
		out = append(out, w.looks.doubts()...)
	}
	if r.entry.relies&onTags != 0 {
		out = append(out, w.writes.doubts()...)
	}
	for _, s := range r.entry.sources {
		if n := w.gaps[s]; n > 0 {
			out = append(out, fmt.Sprintf("the %s recorder may have missed something %d times", s, n))
		}
	}
	if f := r.check.found(); f.shaky > 0 {
		out = append(out, fmt.Sprintf("%d breaches seemed to show after something had been missed, so they prove nothing; the first: %s", f.shaky, f.shakiest))
	}
	return out
}

// standing is how things stand, as if the history ended here, whole.
func (r *runner) standing(w *World) Progress {
	p := Progress{ID: r.req.ID, Verdict: Inconclusive}
	if r.inapplicable != "" {
		p.Verdict = NotApplicable
		return p
	}
	if r.check == nil {
		p.Verdict = Skipped
		return p
	}
	found := r.check.found()
	p.Violations, p.Observations = found.count, r.observations(w)
	switch {
	case found.count > 0:
		p.Verdict = Fail
	case r.crashed != "" || len(p.Observations) == 0:
	case slices.ContainsFunc(p.Observations, func(o Observation) bool { return o.Seen < o.Need }):
	case len(found.deviating) > 0:
		p.Verdict = Deviation
	default:
		p.Verdict = Pass
	}
	return p
}
