package fact

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// recorded is a history of changes in etcd, one a millisecond.
func recorded(changes ...history.Stored) *History {
	h := NewHistory(history.Header{Members: []history.MemberHeader{{Name: "a", ServerID: "ida"}}})
	for i := range changes {
		at := int64(time.Second) + int64(i)*int64(time.Millisecond)
		h.Observe(&history.Event{Seq: int64(i + 1), At: at, From: at, Kind: history.KindStored, Stored: &changes[i]})
	}
	return h
}

func version(revision int64, entries ...history.Entry) history.Stored {
	return history.Stored{Type: history.StoredPut, Key: StorageVersionPrefix + "core.pods", Revision: revision, StorageVersion: &history.StorageVersion{Entries: entries}}
}

func identity(typ string, revision int64, renewed time.Duration) history.Stored {
	return history.Stored{Type: typ, Key: IdentityLeasePrefix + "ida", Revision: revision, Created: revision,
		Lease: &history.Lease{Identity: true, Duration: 10, Renewed: time.Unix(0, 0).Add(renewed)}}
}

func TestStorageVersion_EntriesByRevision(t *testing.T) {
	one, other := history.Entry{ServerID: "ida", Encoding: "v1"}, history.Entry{ServerID: "ida", Encoding: "v2"}
	h := recorded(version(5, one), version(7, one, history.Entry{ServerID: "idb"}), version(9, other),
		history.Stored{Type: history.StoredDelete, Key: StorageVersionPrefix + "core.pods", Revision: 11}, version(13, one))
	v := h.StorageVersion("core.pods")
	for revision, want := range map[int64]string{4: "", 5: "v1", 8: "v1", 9: "v2", 10: "v2", 11: "", 13: "v1"} {
		got := ""
		if e := v.EntryAt("ida", revision); e != nil {
			got = e.Encoding
		}
		if got != want {
			t.Errorf("at revision %d the entry encodes %q, want %q", revision, got, want)
		}
	}
	if c := v.Entry("ida").ChangeBy(12); c.There || v.At(c.Revision) != nil {
		t.Error("the entry went with the object, which is not told")
	}
	if n := len(v.Entry("ida").All()); n != 4 {
		t.Errorf("the entry has %d changes, want 4: a revision that leaves it alone is none", n)
	}
	if at := v.At(13); at == nil || at.Made != 13 || v.At(12) != nil || v.At(10).Made != 5 {
		t.Error("the creation of the object is not followed")
	}
}

func TestParticipation_FollowsTheIdentityLease(t *testing.T) {
	h := recorded(identity(history.StoredPut, 2, 0), identity(history.StoredDelete, 6, 0), identity(history.StoredPut, 8, 5*time.Second))
	p := h.Participation("ida")
	for revision, want := range map[int64]bool{1: false, 2: true, 5: true, 6: false, 7: false, 8: true} {
		if got := h.TakesPart("ida", revision); got != want {
			t.Errorf("at revision %d it takes part: %v, want %v", revision, got, want)
		}
	}
	if p.Through(5, 8) || !p.During(6, 8) || p.During(6, 7) {
		t.Error("one Lease after another is taken for the same one")
	}
	if !p.Renewals[len(p.Renewals)-1].Lapsed {
		t.Error("a Lease that is made anew had not lapsed")
	}
}

func TestHistory_ToldIsUnknownOnlyAtTheEnd(t *testing.T) {
	h := recorded(version(5), version(9))
	for _, tc := range []struct {
		revision, at int64
		want         Truth
	}{{9, 0, Yes}, {10, h.Now, Unknown}, {10, h.Now - 2*int64(etcdDelay), No}} {
		if got := h.Told(tc.revision, tc.at); got != tc.want {
			t.Errorf("revision %d, read at %d, was told of: %s, want %s", tc.revision, tc.at, got, tc.want)
		}
	}
	if got := h.ToldBy(7); got != 2 {
		t.Errorf("revision 7 was told by event %d, want 2", got)
	}
}
