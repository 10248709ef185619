package fact_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func identity(revision, created int64, renewed time.Duration, labeled bool) history.Event {
	return history.Event{At: revision * s, Stored: &history.Stored{
		Type: history.StoredPut, Key: fact.IdentityLeasePrefix + "ida", Revision: revision, Created: created,
		Lease: &history.Lease{Identity: labeled, Renewed: began.Add(renewed), Duration: 15},
	}}
}

func gone(revision int64, key string) history.Event {
	return history.Event{At: revision * s, Stored: &history.Stored{Type: history.StoredDelete, Key: key, Revision: revision}}
}

func TestParticipation_LastsWhileTheIdentityLeaseExists(t *testing.T) {
	h := observed(
		identity(2, 2, 2*time.Second, true), identity(4, 2, 4*time.Second, false), // it stays the one by which it joined
		gone(6, fact.IdentityLeasePrefix+"ida"),
		identity(8, 8, 8*time.Second, true), identity(30, 8, 30*time.Second, true),
		gone(31, fact.IdentityLeasePrefix+"other"),
	)
	p := h.Participation("ida")
	for revision, want := range map[int64]bool{1: false, 2: true, 5: true, 6: false, 7: false, 8: true, 40: true} {
		if h.TakesPart("ida", revision) != want {
			t.Errorf("at revision %d it takes part: %v", revision, !want)
		}
	}
	if p.Through(4, 9) || !p.Through(2, 5) || !p.During(5, 9) || p.During(6, 7) {
		t.Error("two Leases are one, or one is two")
	}
	var lapsed []int64
	for _, r := range p.Renewals {
		if r.Lapsed {
			lapsed = append(lapsed, r.Revision)
		}
	}
	if len(lapsed) != 2 || lapsed[0] != 8 || lapsed[1] != 30 {
		t.Errorf("it had lapsed before the renewals %v, want 8 (it was gone) and 30 (it had run out)", lapsed)
	}
	if all := h.Participants(); len(all) != 1 || all[0] != p {
		t.Errorf("the participants are %+v", all)
	}
	truths(t, "it takes part", p.Signal(h), map[int64]fact.Truth{1: fact.No, 9: fact.Yes, 13: fact.No, 40: fact.Yes})
}

func TestParticipation_NeedsTheLabelToBegin(t *testing.T) {
	if h := observed(identity(2, 2, 0, false)); h.TakesPart("ida", 3) || len(h.Participants()) > 0 {
		t.Error("a Lease without the label is one of an API server")
	}
}

func TestMembers_HaveTheirServers(t *testing.T) {
	h := observed()
	if h.ServerID("a") != "ida" || h.MemberOfServer("ida") != "a" || h.ServerID("x") != "" || h.MemberOfServer("") != "" {
		t.Error("the identities of the members are mistaken")
	}
	if h.MemberOf("a_123") != "a" || h.MemberOf("b_123") != "" {
		t.Error("the holder of a Lease is laid to another member")
	}
}
