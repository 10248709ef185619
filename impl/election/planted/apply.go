package planted

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

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
		if d.Has(defects.CLE26CountsNothing) {
			after.Spec.LeaseTransitions = w.On.Spec.LeaseTransitions // defect: CLE-26-counts-nothing
		}
		after.Spec.AcquireTime.Time = after.Spec.AcquireTime.Add(-d.Delay(defects.CLE26AcquiredApart)) // defect: CLE-26-acquired-apart
		return after
	}
}
