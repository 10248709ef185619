package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// A release without coordination leads by another Lease than those with it stand for.
func TestRO10_ALockWithoutCandidatesIsComparedWithOneThatHasThem(t *testing.T) {
	const s, old = time.Second, "kube-system/kube-controller-manager-legacy"
	beside := func(release string) *electionBuilder {
		b := controlPlane()
		b.managerOf("c", history.ProcessStarted, "", release, history.FeatureCoordination)
		b.managerOf("a", history.ProcessStarted, "", "1.2").declare("a_1", managersLease, "1.2.0")
		b.managerOf("b", history.ProcessStarted, "", "1.2").declare("b_1", managersLease, "1.2.0")
		b.wait(3*s).claim(old, "c_1").elect(managersLease, "a_1")
		for range 5 {
			b.wait(3*s).claim(old, "c_1").renew(managersLease, "a_1")
		}
		return b
	}
	beside("1.1").expectBreaches(t, "RO-10", "and those of 1.1 by "+old)
	beside("1.2").expectBreaches(t, "RO-10")
}

// Two locks that both have candidates are compared by these alone.
func TestRO10_LocksWithCandidatesAreBlamedOnce(t *testing.T) {
	const s, old = time.Second, "kube-system/kube-controller-manager-legacy"
	b := controlPlane()
	b.managerOf("c", history.ProcessStarted, "", "1.1").declare("c_1", old, "1.1.0")
	b.managerOf("a", history.ProcessStarted, "", "1.2").declare("a_1", managersLease, "1.2.0")
	b.wait(3*s).elect(old, "c_1").elect(managersLease, "a_1").wait(3 * s)
	b.expectBreaches(t, "RO-10", "stands for")
}
