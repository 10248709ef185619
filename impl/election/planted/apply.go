package planted

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/election"
)

// Apply gives what a coordinator writes with the defects of a set.
func Apply(d defects.Set) election.Applier {
	return func(w election.Write, by election.Author, now time.Time) *coordinationv1.Lease {
		after := election.Apply(w, by, now)
		if w.On == nil || w.Holder == "" {
			return after
		}
		if before, chosen := w.On.Annotations[election.Resolved], election.Chosen(w.On); before != "" && chosen != "" && d.Has(defects.CLE28TakesItBack) {
			after.Spec.Strategy = ptr.To(election.Strategy(before)) // defect: CLE-28-takes-it-back
		}
		if w.On.Spec.Strategy == nil && w.Holder != holder(w.On) && d.Has(defects.CLE25OmitsTheStrategy) {
			after.Spec.Strategy = nil // defect: CLE-25-omits-the-strategy
			delete(after.Annotations, election.Resolved)
		}
		if d.Has(defects.CLE26CountsNothing) {
			after.Spec.LeaseTransitions = w.On.Spec.LeaseTransitions // defect: CLE-26-counts-nothing
		}
		after.Spec.AcquireTime.Time = after.Spec.AcquireTime.Add(-d.Delay(defects.CLE26AcquiredApart)) // defect: CLE-26-acquired-apart
		return after
	}
}
