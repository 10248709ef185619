package everyrun

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

const second = int64(time.Second)

// observed are the facts of a history with three members.
func observed(events ...history.Event) *Facts {
	f := begin(fact.NewHistory(history.Header{Members: []history.MemberHeader{{Name: "cp1"}, {Name: "cp2"}, {Name: "cp3"}}}))
	for i := range events {
		events[i].Seq = int64(i + 1)
		f.History.Observe(&events[i])
		f.Observe(&events[i])
	}
	return f
}

func process(member, component, change string, instance int, at int64) history.Event {
	return history.Event{At: at, From: at, Member: member, Process: &history.Process{Component: component, Change: change, Instance: instance, Expected: true}}
}

func balancer(code int, from, at int64) history.Event {
	return history.Event{At: at, From: from, LoadBalancer: &history.LoadBalancer{Code: code}}
}

func TestQuorum_NeedsAMajority(t *testing.T) {
	stop := func(member string, at int64) history.Event {
		return process(member, history.ComponentEtcd, history.ProcessExited, 1, at)
	}
	start := func(member string) history.Event {
		return process(member, history.ComponentEtcd, history.ProcessStarted, 1, second)
	}
	f := observed(start("cp1"), start("cp2"), start("cp3"), stop("cp1", 10*second), stop("cp3", 20*second))
	quorum := f.etcdQuorum()
	for at, want := range map[int64]fact.Truth{5: fact.Yes, 15: fact.Yes, 25: fact.No} {
		if got := quorum.At(at * second); got != want {
			t.Errorf("at %ds %v, want %v", at, got, want)
		}
	}
}

func TestServed_ChangesWithTheAnswers(t *testing.T) {
	f := observed(
		balancer(0, 1*second, 2*second), // the control plane boots
		balancer(200, 3*second, 4*second),
		balancer(503, 5*second, 6*second),
		balancer(404, 7*second, 8*second),
		balancer(200, 30*second, 31*second), // nothing was recorded for longer than the bound
	)
	served := f.served()
	for at, want := range map[int64]fact.Truth{1: fact.Unknown, 4: fact.Yes, 6: fact.No, 9: fact.Unknown, 29: fact.Unknown, 31: fact.Yes} {
		if got := served.At(at*second + 1); got != want {
			t.Errorf("after %ds %v, want %v", at, got, want)
		}
	}
}

func TestStoredAt_HasAllOfATransaction(t *testing.T) {
	store := func(revision int64, key string) history.Event {
		return history.Event{Stored: &history.Stored{Type: history.StoredPut, Revision: revision, Key: key}}
	}
	f := observed(store(5, "/a"), store(7, "/b"), store(7, "/c"), store(9, "/d"))
	for revision, want := range map[int64]int{4: 0, 5: 1, 6: 0, 7: 2, 9: 1, 10: 0} {
		if got := len(f.storedAt(revision)); got != want {
			t.Errorf("revision %d: %d changes, want %d", revision, got, want)
		}
	}
}

func TestAcknowledged_IsTheWriteThatItsTagNames(t *testing.T) {
	f := observed()
	other, cp1, cp2 := f.by(""), f.by("cp1"), f.by("cp2")
	a := acknowledged{origin: origin{facts: f, member: "cp1"}, resource: "configmaps", name: "default/x", write: 3}
	for _, c := range []struct {
		stored stored
		want   bool
	}{
		{stored{key: "/registry/configmaps/default/x", by: cp1, write: 3}, true},
		{stored{key: "/registry/configmaps/default/x", by: other}, false}, // another client's, or a deletion
		{stored{key: "/registry/configmaps/default/x", opaque: true}, true},
		{stored{key: "/registry/secrets/default/x", opaque: true}, false},
		{stored{key: "/registry/configmaps/default/x", by: cp1, write: 2}, false},
		{stored{key: "/registry/configmaps/default/x", by: cp2, write: 3}, false},
		{stored{key: "/registry/configmaps/default/xx", by: cp1, write: 3}, false},
	} {
		if got := a.is(c.stored); got != c.want {
			t.Errorf("%+v: %v, want %v", c.stored, got, c.want)
		}
	}
}

func TestObserve_KeepsOnlyTaggedWritesThatEtcdCanHave(t *testing.T) {
	write := func(r history.Request) history.Event {
		return history.Event{Member: "cp1", Request: &r}
	}
	f := observed(
		write(history.Request{Write: 1, Code: 201, ResourceVersion: 5}),
		write(history.Request{Write: 2, Code: 409, ResourceVersion: 5}),
		write(history.Request{Write: 3, Code: 200, ResourceVersion: 5, Class: history.ClassAggregated}),
		write(history.Request{Code: 200, ResourceVersion: 5}),
	)
	if len(f.acknowledged) != 1 || f.acknowledged[0].write != 1 {
		t.Errorf("%+v, want write 1 only", f.acknowledged)
	}
}

func TestHealthy_NeitherBesideAFaultNorBeforeReadiness(t *testing.T) {
	fault := func(phase history.Phase, at int64) history.Event {
		return history.Event{At: at, Member: "cp1", Fault: &history.Fault{ID: "slow", Phase: phase}}
	}
	f := observed(
		process("cp1", history.ComponentAPIServer, history.ProcessStarted, 1, second),
		history.Event{At: 3 * second, From: 3 * second, Member: "cp1", Ready: &history.Ready{Code: 200}},
		fault(history.PhaseInject, 5*second), fault(history.PhaseHeal, 7*second),
	)
	for _, c := range []struct {
		from, at int64
		want     fact.Truth
	}{{2, 2, fact.No}, {4, 4, fact.Yes}, {4, 6, fact.Unknown}, {6, 6, fact.No}, {8, 9, fact.Yes}} {
		if got := (origin{Stamp: fact.Stamp{From: c.from * second, At: c.at * second}}).through(f.healthy("cp1")); got != c.want {
			t.Errorf("from %ds to %ds: %v, want %v", c.from, c.at, got, c.want)
		}
	}
}

func TestObserveDefinition_KnowsGroupAndResource(t *testing.T) {
	f := observed(history.Event{Stored: &history.Stored{Type: history.StoredPut, Key: definitionPrefix + "things.example.com", CustomResource: &history.CustomResource{}}},
		history.Event{Stored: &history.Stored{Type: history.StoredPut, Key: "/registry/configmaps/default/things.example.com"}})
	of := fact.Resource{Group: "example.com", Resource: "things"}
	if d := f.definitions[of]; len(f.definitions) != 1 || d == nil || d.Last() == nil {
		t.Errorf("%+v", f.definitions)
	}
}
