package everyrun

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// healthyMember are the facts of a control plane of which cp1 serves from the third second on.
func healthyMember(more ...history.Event) *Facts {
	return observed(append([]history.Event{
		process("cp1", history.ComponentAPIServer, history.ProcessStarted, 1, second),
		{At: 3 * second, From: 3 * second, Member: "cp1", Ready: &history.Ready{Code: 200}},
	}, more...)...)
}

func TestRead_AgreesWithEtcdOrIsNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		read history.Read
		from int64
		want law.Ending
	}{
		"it holds what etcd does":                       {history.Read{Code: 200, Compared: true, Stored: 3}, 5, law.Met},
		"an object is missing":                          {history.Read{Code: 200, Compared: true, Stored: 3, Missing: 1}, 5, law.Broken},
		"an object that etcd does not hold":             {history.Read{Code: 200, Compared: true, Extra: 1}, 5, law.Broken},
		"an older state":                                {history.Read{Code: 200, Compared: true, Stored: 3, Older: 1}, 5, law.Broken},
		"wrong, before the member was ready":            {history.Read{Code: 200, Compared: true, Stored: 3, Missing: 1}, 2, law.Broken},
		"etcd holds nothing":                            {history.Read{Code: 200, Compared: true}, 5, law.Excused},
		"it could not be compared":                      {history.Read{Code: 200}, 5, law.Unclear},
		"a member that cannot decode":                   {history.Read{Code: 500}, 5, law.Broken},
		"a member that cannot decode, before it serves": {history.Read{Code: 500}, 2, law.Excused},
		"a busy member":                                 {history.Read{Code: 429}, 5, law.Unclear},
		"no answer":                                     {history.Read{}, 5, law.Unclear},
		"a resource that it does not serve":             {history.Read{Code: 404, NotServed: true}, 5, law.Excused},
	} {
		c.read.How, c.read.Resource = history.ReadConsistent, "configmaps"
		f := healthyMember(history.Event{At: c.from*second + 5, From: c.from * second, Member: "cp1", Read: &c.read})
		e := f.reads[0].agrees(law.Bounds{})
		if e.Ending != c.want || e.Member != "cp1" || e.Ending == law.Broken && !e.SelfEvident {
			t.Errorf("%s: %+v, want %s", name, e, c.want)
		}
	}
}

// All servers of a release that have the same features serve the same resources.
func TestRead_OfAResourceThatAnotherServerOfTheReleaseServes(t *testing.T) {
	started := func(member, release string, off ...string) history.Event {
		ev := process(member, history.ComponentAPIServer, history.ProcessStarted, 1, second)
		ev.Process.Release, ev.Process.DisabledFeatures = release, off
		return ev
	}
	reads := func(member string, r history.Read) history.Event {
		r.How, r.Group, r.Resource = history.ReadConsistent, "example.com", "things"
		return history.Event{Seq: 9, At: 5*second + 5, From: 5 * second, Member: member, Read: &r}
	}
	ready := func(at int64) history.Event {
		return history.Event{At: at, From: at, Member: "cp1", Ready: &history.Ready{Code: 200}}
	}
	hosts := func(aggregated bool) history.Event {
		return history.Event{At: 4 * second, Member: "cp2", HostedResources: &history.HostedResources{Resources: []history.HostedResource{{Group: "example.com", Resource: "things", Kind: "Thing", Aggregated: aggregated, Persisted: true}}}}
	}
	served, not := reads("cp2", history.Read{Code: 200, Compared: true, Stored: 1}), reads("cp1", history.Read{Code: 404, NotServed: true})
	for name, c := range map[string]struct {
		events []history.Event
		want   law.Ending
	}{
		"of its release":             {[]history.Event{started("cp1", "1.2"), started("cp2", "1.2"), ready(3 * second), served, not}, law.Broken},
		"of its release, later":      {[]history.Event{started("cp1", "1.2"), started("cp2", "1.2"), ready(3 * second), not, served}, law.Broken},
		"of another release":         {[]history.Event{started("cp1", "1.2"), started("cp2", "1.3"), ready(3 * second), served, not}, law.Excused},
		"with other features":        {[]history.Event{started("cp1", "1.2"), started("cp2", "1.2", "x"), ready(3 * second), served, not}, law.Excused},
		"before the member is ready": {[]history.Event{started("cp1", "1.2"), started("cp2", "1.2"), ready(8 * second), served, not}, law.Excused},
		"of an unknown release":      {[]history.Event{started("cp1", ""), started("cp2", ""), ready(3 * second), served, not}, law.Excused},
		"an aggregated resource":     {[]history.Event{started("cp1", "1.2"), started("cp2", "1.2"), ready(3 * second), served, not}, law.Excused},
	} {
		f := observed(append(c.events, hosts(name == "an aggregated resource"))...)
		for _, r := range f.reads {
			if e := r.agrees(law.Bounds{}); r.NotServed && (e.Ending != c.want || e.Ending == law.Broken && len(e.Evidence) != 2) {
				t.Errorf("%s: %+v, want %s", name, e, c.want)
			}
		}
	}
}

func TestCustom_OwesAnAnswerOnceTheServerWasReady(t *testing.T) {
	const key = definitionPrefix + "things.example.com"
	made := history.Event{At: 3 * second, Stored: &history.Stored{Type: history.StoredPut, Revision: 4, Key: key, CustomResource: &history.CustomResource{Served: []string{"v1"}}}}
	deleted := history.Event{At: 4 * second, Stored: &history.Stored{Type: history.StoredDelete, Revision: 5, Key: key}}
	for name, c := range map[string]struct {
		custom history.CustomResourceAnswer
		from   int64
		before []history.Event
		want   law.Ending
	}{
		"it serves the resource":              {history.CustomResourceAnswer{Instance: 1, Code: 200}, 5, nil, law.Met},
		"it says that there is none":          {history.CustomResourceAnswer{Instance: 1, Code: 404}, 5, nil, law.Broken},
		"it says so before it was ready":      {history.CustomResourceAnswer{Instance: 1, Code: 404}, 2, nil, ""},
		"it says so and calls itself ready":   {history.CustomResourceAnswer{Instance: 1, Code: 404, Ready: 200}, 2, nil, law.Broken},
		"the definition was deleted":          {history.CustomResourceAnswer{Instance: 1, Code: 404}, 5, []history.Event{made, deleted}, law.Excused},
		"a busy member":                       {history.CustomResourceAnswer{Instance: 1, Code: 503, Ready: 200}, 5, nil, law.Unclear},
		"one that is not ready any more":      {history.CustomResourceAnswer{Instance: 1, Code: 503, Ready: 500}, 5, nil, law.Excused},
		"an error that says nothing of that":  {history.CustomResourceAnswer{Instance: 1, Code: 500, Ready: 200}, 5, nil, law.Unclear},
		"a process that was not seen":         {history.CustomResourceAnswer{Instance: 7, Code: 404}, 5, nil, ""},
		"one that was not seen, and is ready": {history.CustomResourceAnswer{Instance: 7, Code: 404, Ready: 200}, 5, nil, law.Broken},
	} {
		c.custom.Group, c.custom.Version, c.custom.Resource = "example.com", "v1", "things"
		f := healthyMember(append(c.before, history.Event{At: c.from*second + 5, From: c.from * second, Member: "cp1", CustomResourceAnswer: &c.custom})...)
		if e := f.customs[0].served(law.Bounds{}); e.Ending != c.want {
			t.Errorf("%s: %+v, want %q", name, e, c.want)
		}
	}
}

func TestKept_IsOpenOnlyWhileEtcdHasNotToldOfTheRevision(t *testing.T) {
	store := func(revision int64, key string, write int64) history.Event {
		return history.Event{At: revision * second, Stored: &history.Stored{Type: history.StoredPut, Revision: revision, Key: "/registry/configmaps/" + key, Writer: "cp1", Write: write}}
	}
	for name, c := range map[string]struct {
		revision int64
		want     law.Ending
	}{
		"the write is there":     {5, law.Met},
		"another change is":      {6, law.Broken},
		"no such revision":       {7, law.Broken},
		"the history ended then": {9, law.Open},
	} {
		f := observed(store(5, "default/x", 1), store(6, "default/y", 2), store(8, "default/z", 3),
			history.Event{At: 10 * second, Member: "cp1", Request: &history.Request{Write: 1, Resource: "configmaps", Name: "default/x", Code: 200, ResourceVersion: c.revision}})
		if e := f.acknowledged[0].kept(law.Bounds{}); e.Ending != c.want {
			t.Errorf("%s: %+v, want %s", name, e, c.want)
		}
	}
}

func TestUndisturbed_NotWhileTheHarnessIsAtWork(t *testing.T) {
	f := healthyMember(process("cp1", history.ComponentEtcd, history.ProcessStarted, 1, 4*second), process("cp1", history.ComponentEtcd, history.ProcessPaused, 1, 6*second), process("cp1", history.ComponentEtcd, history.ProcessResumed, 1, 8*second))
	s := f.servers()[0]
	for at, want := range map[int64]fact.Truth{5: fact.Yes, 7: fact.No, 9: fact.Yes} {
		if got := s.undisturbed().At(at * second); got != want {
			t.Errorf("after %d s it is undisturbed: %s, want %s", at, got, want)
		}
	}
}
