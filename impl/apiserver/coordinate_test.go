package apiserver

import (
	"errors"
	"net/http"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

// TestACoordinatorGivesItsLeaseUp stops the server that coordinates: when it has ended,
// the others need not wait until its Lease has expired.
func TestACoordinatorGivesItsLeaseUp(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts real servers, which takes some seconds")
	}
	live := newLive(t)
	coordinated := func(o *Options) { o.CoordinatedLeaderElection = true }
	first := live.start("s1", "1.3", coordinated)
	first.waitReady()
	holder := func(s *liveServer) string {
		response, body := s.ask("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/leader-election-controller", "application/json")
		var lease coordinationv1.Lease
		if response.StatusCode == http.StatusOK {
			s.decode(body, &lease)
		}
		return ptr.Deref(lease.Spec.HolderIdentity, "")
	}
	live.until("it coordinates", func() error {
		if holder(first) == "" {
			return errors.New("no API server holds the coordinators' Lease")
		}
		return nil
	})
	was := holder(first)
	second := live.start("s2", "1.3", coordinated)
	second.waitReady()
	first.stop()
	if now := holder(second); now == was {
		t.Errorf("%s has ended, and holds the coordinators' Lease still", was)
	}
}
