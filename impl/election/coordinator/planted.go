package coordinator

import (
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/election"
)

// overlookLate leaves out new candidates other than the leader for a short time, and returns
// when the next of them counts; 0 if none is left out.
func (s *shift) overlookLate(view *election.View, now time.Time) time.Duration {
	delay := s.options.Defects.Delay(defects.CLE08PreemptsLate)
	if delay == 0 || view.Lease == nil || ptr.Deref(view.Lease.Spec.HolderIdentity, "") == "" {
		return 0
	}
	soon := time.Duration(0)
	view.Candidates = slices.DeleteFunc(view.Candidates, func(c *election.Candidate) bool {
		left := s.waits.Left(string(c.UID), now, delay)
		if left == 0 || c.Name == *view.Lease.Spec.HolderIdentity {
			return false // defect: CLE-08-preempts-late
		}
		if soon == 0 || left < soon {
			soon = left
		}
		return true
	})
	return soon
}

// lasts is how long the coordinators' Lease lasts.
func lasts(d defects.Set) time.Duration {
	if late := d.Delay(defects.CLE13CoordinateLate); late > 0 {
		return late // defect: CLE-13-coordinates-late
	}
	return LeaseDuration
}
