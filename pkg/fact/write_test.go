package fact

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestWrites_JoinAnswersAndChanges(t *testing.T) {
	answer := func(number int64, code int) *history.Event {
		return &history.Event{Kind: history.KindRequest, Member: "a", Request: &history.Request{Class: history.ClassGuarded, Resource: "pods", Code: code, Write: number, ResourceVersion: 5}}
	}
	change := func(number, revision int64) *history.Event {
		return &history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: "/registry/pods/x", Revision: revision, APIVersion: "v1", ObjectKind: "Pod", Writer: "a", Write: number}}
	}
	h := NewHistory(history.Header{Writes: []history.WrittenResource{{Resource: "pods", Kind: "Pod"}}})
	for i, ev := range []*history.Event{change(1, 4), answer(1, 200), answer(2, 200), answer(3, 503), {Kind: history.KindEnd, At: int64(time.Minute), End: &history.End{}}} {
		ev.Seq = int64(i + 1)
		ev.At = max(ev.At, int64(i+1))
		h.Observe(ev)
	}
	if w := h.Write("a", 1); !w.InEtcd() || !w.Accepted || w.Stored.Revision != 4 {
		t.Errorf("the two sides of a write are not joined: %+v", w)
	}
	if r, ok := h.ResourceOfWrite(h.Write("a", 1)); !ok || r.StorageVersionName() != "core.pods" {
		t.Errorf("it is a write of %v (%v)", r, ok)
	}
	if got := h.UntoldWrites()["a"]; got != 1 {
		t.Errorf("%d accepted writes never showed, want 1", got)
	}
	// The answer names the change, so that what the request was about is what was stored.
	named := &history.Event{Kind: history.KindStored, Seq: 6, At: int64(2 * time.Minute), Stored: &history.Stored{Type: history.StoredPut, Key: "/registry/pods/y", Revision: 5, APIVersion: "old/v1", ObjectKind: "Other", Writer: "a", Write: 2}}
	h.Observe(named)
	if r, ok := h.ResourceOfWrite(h.Write("a", 2)); !ok || r.StorageVersionName() != "core.pods" {
		t.Errorf("it is a write of %v (%v)", r, ok)
	}
}

func TestHosting_NoServerTalksItselfOut(t *testing.T) {
	h := NewHistory(history.Header{Members: []history.MemberHeader{{Name: "a"}, {Name: "b"}}})
	for i, member := range []string{"a", "b"} {
		h.Observe(&history.Event{Seq: int64(i + 1), At: int64(i + 1), Kind: history.KindHostedResources, Member: member, HostedResources: &history.HostedResources{
			Resources: []history.HostedResource{{Group: "g", Resource: "things", Kind: "Thing", Persisted: i == 0}}}})
	}
	if h.Hosted(Resource{"g", "things"}) != HostedBuiltIn {
		t.Error("a resource that one server calls built in is not")
	}
	if len(h.HostingConflicts()) != 1 {
		t.Errorf("the conflicts are %q, want one", h.HostingConflicts())
	}
}
