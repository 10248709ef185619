package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// The harness gives a controller half a minute to end, which gives its Lease up first.
func TestInstances_OweNothingOnceTheyAreToldToEnd(t *testing.T) {
	const s = time.Second
	pinged := func(told bool) *electionBuilder {
		b := controlPlane("1.2.0", "1.2.0")
		if told {
			b.manager("a", history.ProcessStopping, "")
		}
		return b.ping("a_1", managersLease, "1.2.0", 0).waitWithChanges(20*s).manager("a", history.ProcessExited, killed)
	}
	pinged(true).expectBreaches(t, "CLE-03")
	pinged(false).expectBreaches(t, "CLE-03", "candidate kube-system/a_1 did not answer a ping for")

	stopped := controlPlane("1.2.0").etcd("a", history.ProcessStarted, 1).elect(managersLease, "a_1").act(managersLease, "a_1").wait(s)
	stopped.etcd("a", history.ProcessStopping, 1).renewFor(managersLease, "a_1", 40*s).expectBreaches(t, "RO-05")

	idle := func(told bool) *electionBuilder {
		b := controlPlane("1.2.0").elect(managersLease, "a_1").act(managersLease, "a_1").wait(s)
		if told {
			b.manager("a", history.ProcessStopping, "")
		}
		return b.renewFor(managersLease, "a_1", 40*s).manager("a", history.ProcessExited, killed)
	}
	idle(true).expectBreaches(t, "RO-05")
	idle(false).expectBreaches(t, "RO-05", "a_1 leads kube-system/kube-controller-manager and did none of its work for")
}
