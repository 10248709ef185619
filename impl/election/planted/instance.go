package planted

import (
	"time"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/election"
)

// Next gives how an instance decides about its Lease with the defects of a set.
func Next(d defects.Set) election.Nexter {
	return func(s election.Situation, now time.Time) election.Step {
		if delay := d.Delay(defects.CLE20ClaimsLate); delay > 0 {
			s.FallbackDelay = delay // defect: CLE-20-claims-late
		}
		step := election.Next(s, now)
		if step.Move == election.Claim && neverClaims(d) {
			return election.Step{Move: election.Wait, On: step.On, Within: s.FallbackDelay}
		}
		return step
	}
}

// neverClaims is whether instances do not fall back, with a defect of the fallback or with one
// that leaves a Lease free, which the fallback would hide.
func neverClaims(d defects.Set) bool {
	return d.Has(defects.CLE20NoFallback) || // defect: CLE-20-no-fallback
		d.Has(defects.CLE11NeverTakesExpired) || d.Has(defects.CLE11ReplacesLate) || d.Has(defects.CLE24Sulks) ||
		d.Has(defects.RO04ElectsNoOther) || d.Has(defects.RO04WaitsAMinute)
}

// Due gives when a candidate is written again with the defects of a set.
func Due(d defects.Set) election.Duer {
	declared := false
	var gone defects.Waits
	return func(c *election.Candidate, wanted election.CandidateSpec, now time.Time) time.Duration {
		switch {
		case c != nil:
			declared = true
			gone.Done(wanted.LeaseName)
		case declared && d.Has(defects.CLE01StaysUndeclared):
			return forGood // defect: CLE-01-stays-undeclared
		case declared:
			return gone.Left(wanted.LeaseName, now, d.Delay(defects.CLE01ReturnsLate)) // defect: CLE-01-returns-late
		default:
			return 0
		}
		due := election.Due(c, wanted, now)
		if late := d.Delay(defects.CLE03SlowAnswers); late > 0 && election.Owes(c) {
			return max(c.Spec.PingTime.Add(late).Sub(now), 0) // defect: CLE-03-slow-answers
		}
		if renewed := c.Spec.RenewTime; renewed != nil && d.Has(defects.CLE02RenewsOften) {
			return min(due, max(renewed.Add(oftenEvery).Sub(now), 0)) // defect: CLE-02-renews-often
		} else if early := d.Delay(defects.CLE02RenewsEarly); renewed != nil && early > 0 {
			return min(due, max(renewed.Add(early).Sub(now), 0)) // defect: CLE-02-renews-early
		} else if late := d.Delay(defects.CLE02RenewsLate); renewed != nil && late > 0 && !election.Owes(c) {
			return max(due, renewed.Add(late).Sub(now)) // defect: CLE-02-renews-late
		}
		return due
	}
}

// forGood is longer than any run.
const forGood = 24 * time.Hour

// oftenEvery is how often a candidate renews with CLE-02-renews-often.
const oftenEvery = 10 * time.Second
