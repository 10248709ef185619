package check

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// result returns the verdict on a requirement by everything observed so far. If its law
// panics, the requirement is inconclusive, and the other laws go on.
func (j *Judging) result(req requirement.Requirement, doubts []string) (res Result) {
	unjudged := func(verdict Verdict, why string) Result {
		return Result{ID: req.ID, Level: req.Level, Promise: req.Promise, Verdict: verdict, Reasons: []string{why}}
	}
	defer func() {
		if p := recover(); p != nil {
			res = unjudged(Inconclusive, fmt.Sprintf("the law itself crashed: %v", p))
		}
	}()
	if why, ok := Inapplicable(req.ID, j.account.header()); ok {
		return unjudged(NotApplicable, why)
	}
	if j.of[req.ID] == nil {
		return unjudged(Skipped, "no law judges it")
	}
	row, ledger := j.of[req.ID].Judge(req.ID)
	return law.Weigh(req, row, ledger, j.history, doubts)
}

// progressOf returns the progress for a result while the history goes on: an obligation
// that is open may still be met.
func progressOf(r Result) Progress {
	p := Progress{ID: r.ID, Verdict: r.Verdict, Violations: r.ViolationCount, Observations: r.Observations}
	if c := r.Obligations; r.Verdict == Inconclusive && c != nil && c.Unclear == 0 && c.Excused <= c.Met && enough(r.Observations) {
		p.Verdict = Pass
	}
	return p
}

func enough(observations []Observation) bool {
	return len(observations) > 0 && !slices.ContainsFunc(observations, func(o Observation) bool { return o.Seen < o.Need })
}

// Built is whether a law judges the requirement.
func Built(id requirement.ID) bool {
	return slices.ContainsFunc(keps, func(k law.KEP) bool { return slices.Contains(k.IDs(), id) })
}
