package election

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// A leader has work from each Pod of the probe until it acts, or until the harness deletes
// the last one.
func TestHasWork_FromActivityProbeUntilLeaderActs(t *testing.T) {
	const second = int64(1e9)
	pod := "/registry/pods" + activityProbeNamespace
	f := begin(fact.NewHistory(history.Header{}))
	revision := int64(10)
	tell := func(at int64, s history.Stored) {
		revision++
		s.Revision = revision
		if s.Created == 0 {
			s.Created = revision
		}
		ev := history.Event{Seq: revision - 10, At: at * second, From: at * second, Stored: &s}
		f.History.Observe(&ev)
		f.Observe(&ev)
	}
	tell(1, history.Stored{Type: history.StoredPut, Key: leasePrefix + scheduler, Lease: &history.Lease{Holder: "cp1_1"}})
	tell(2, history.Stored{Type: history.StoredPut, Key: pod + "nowhere-1"})
	tell(4, history.Stored{Type: history.StoredPut, Key: pod + "nowhere-1", Created: 1, LeaderAction: &history.LeaderAction{Lease: scheduler, Host: "cp1"}})
	tell(6, history.Stored{Type: history.StoredPut, Key: pod + "nowhere-2"})
	tell(8, history.Stored{Type: history.StoredDelete, Key: pod + "nowhere-1"})
	tell(10, history.Stored{Type: history.StoredDelete, Key: pod + "nowhere-2"})
	work := f.leases[scheduler].hasWork()
	for at, want := range map[int64]fact.Truth{1: fact.No, 3: fact.Yes, 5: fact.No, 7: fact.Yes, 9: fact.Yes, 11: fact.No} {
		if got := work.At(at * second); got != want {
			t.Errorf("at %ds %v, want %v", at, got, want)
		}
	}
}
