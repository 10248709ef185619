package fact_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func hosts(at int64, member string, resources ...history.HostedResource) history.Event {
	return history.Event{At: at, Member: member, HostedResources: &history.HostedResources{Revision: at / s, Resources: resources}}
}

var pods = history.HostedResource{Resource: "pods", Kind: "Pod", Served: []string{"v1"}, Persisted: true}

func TestLook_TellsWhatAMemberHosts(t *testing.T) {
	custom := history.HostedResource{Group: "g", Resource: "cs", Kind: "C", Persisted: true, Custom: true}
	h := observed(hosts(2*s, "a", pods, custom), hosts(3*s, "a", pods, custom))
	looks := h.Looks("a")
	if len(looks) != 2 {
		t.Fatalf("there are %d looks", len(looks))
	}
	for _, l := range looks {
		if !l.Hosts("core.pods") || l.Hosts("g.cs") || !l.Lists("g.cs") || l.Lists("g.other") {
			t.Errorf("the look %+v does not tell built-in resources from others", l)
		}
		if x, ok := l.Find(fact.Resource{Group: "g", Resource: "cs"}); !ok || !x.Custom {
			t.Error("a custom resource is not found")
		}
	}
	if r, ok := h.ResourceOf("v1", "Pod"); !ok || r.StorageVersionName() != "core.pods" {
		t.Errorf("a Pod is %+v", r)
	}
	if h.Hosted(fact.Resource{Resource: "pods"}) != fact.HostedBuiltIn || h.Hosted(fact.Resource{Group: "g", Resource: "cs"}) != fact.HostedOtherwise || h.Hosted(fact.Resource{Resource: "x"}) != fact.Unlisted {
		t.Error("how resources are hosted is mistaken")
	}
}

func TestHosting_NoMemberTalksItselfOutOfWhatItIsJudgedOn(t *testing.T) {
	hidden := pods
	hidden.Persisted = false
	h := fact.NewHistory(history.Header{Members: []history.MemberHeader{{Name: "a"}, {Name: "b"}}})
	for i, ev := range []history.Event{hosts(2*s, "a", pods), hosts(3*s, "b", hidden)} {
		ev.Seq = int64(i + 1)
		h.Observe(&ev)
	}
	if h.Hosted(fact.Resource{Resource: "pods"}) != fact.HostedBuiltIn {
		t.Error("one member's word counts more than the other's")
	}
	if conflicts := h.HostingConflicts(); len(conflicts) != 1 {
		t.Errorf("the conflicts are %v", conflicts)
	}
}

func TestBuiltIn_LeavesOutWhatIsStoredAsAnotherGroup(t *testing.T) {
	events := history.HostedResource{Group: "events.k8s.io", Resource: "events", Persisted: true}
	aggregated := history.HostedResource{Group: "g", Resource: "as", Persisted: true, Aggregated: true}
	if fact.BuiltIn(events) || fact.BuiltIn(aggregated) || !fact.BuiltIn(pods) {
		t.Error("what a server has to publish is mistaken")
	}
}

func TestDefined_AlsoWithoutAnAnswer(t *testing.T) {
	h := observed(history.Event{At: s, Member: "a", Request: &history.Request{Verb: "create", Resource: "customresourcedefinitions", Defines: &history.Definition{Group: "g", Resource: "cs"}}})
	if !h.Defined(fact.Resource{Group: "g", Resource: "cs"}) || !h.DefinedName("g.cs") || h.DefinedName("g.x") {
		t.Error("a definition without an answer may have come into force")
	}
}

func TestSource_MissedIsCountedFromTheFirstTime(t *testing.T) {
	gap := func(source fact.Source) history.Event {
		return history.Event{At: s, RecorderMissed: &history.RecorderMissed{Source: string(source), Message: "m"}}
	}
	h := observed(gap(fact.Watches), gap(fact.Etcd), gap(fact.Etcd))
	if times, seq := h.Missed(fact.Etcd); times != 2 || seq != 2 {
		t.Errorf("etcd's recorder missed something %d times from event %d on", times, seq)
	}
	if times, seq := h.Missed(fact.Reads); times != 0 || seq != 0 || h.Untrusted() != 0 || len(h.Doubts()) > 0 {
		t.Error("a recorder that missed nothing is doubted")
	}
	stepped := observed(history.Event{At: s, RecorderMissed: &history.RecorderMissed{Source: history.SourceClock, Message: "the clock was set"}}, gap("unheard of"))
	if stepped.Untrusted() != 1 || len(stepped.Doubts()) != 2 {
		t.Errorf("the doubts are %q from event %d on", stepped.Doubts(), stepped.Untrusted())
	}
	missing := observed(history.Event{Seq: 1}, history.Event{Seq: 3})
	if missing.Untrusted() != 3 || len(missing.Doubts()) != 1 {
		t.Errorf("lines are missing: %q from event %d on", missing.Doubts(), missing.Untrusted())
	}
}
