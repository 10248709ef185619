package storageversion_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func TestSV01Published(t *testing.T) {
	events := []history.HostedResource{
		{Resource: "events", Kind: "Event", Served: []string{"v1"}, Persisted: true},
		{Group: "events.k8s.io", Resource: "events", Kind: "Event", Served: []string{"events.k8s.io/v1"}, Persisted: true},
	}
	missing := "a was ready at revision 9 and hosts things, but StorageVersion g.io.things had no entry of ida"
	t.Run("discovery before readiness", func(t *testing.T) {
		newHistory().starts("a", 1).hosts("a", 8).ready("a", 200, 9).says(things, 12, "a="+v1).blames(t, "SV-01", missing)
	})
	t.Run("the revision comes with a later answer", func(t *testing.T) {
		newHistory().starts("a", 1).ready("a", 200, 0).hosts("a", 8).ready("a", 200, 9).says(things, 12, "a="+v1).blames(t, "SV-01", missing)
	})
	t.Run("etcd's recorder is behind", func(t *testing.T) {
		newHistory().starts("a", 1).ready("a", 200, 9).hosts("a", 9).says(things, 8, "a="+v1).writes("a", v1, 12).blames(t, "SV-01")
	})
	t.Run("published between readiness and discovery", func(t *testing.T) {
		newHistory().starts("a", 1).ready("a", 200, 9).says(things, 10, "a="+v1).writes("a", v1, 12).hosts("a", 12).blames(t, "SV-01", missing)
	})
	t.Run("an entry of another server is none", func(t *testing.T) {
		newHistory().starts("a", 1).says(things, 8, "b="+v1).ready("a", 200, 9).hosts("a", 9).writes("a", v1, 12).blames(t, "SV-01", missing)
	})
	t.Run("events have one StorageVersion", func(t *testing.T) {
		newHistory().starts("a", 1).says("core.events", 7, "a=v1").says(things, 8, "a="+v1).ready("a", 200, 9).hosts("a", 9, events...).writes("a", v1, 12).blames(t, "SV-01")
	})
	t.Run("custom and aggregated resources, and those that are not persisted, have none", func(t *testing.T) {
		newHistory().starts("a", 1).says(things, 8, "a="+v1).ready("a", 200, 9).hosts("a", 9,
			history.HostedResource{Group: "x", Resource: "x", Persisted: true, Custom: true},
			history.HostedResource{Group: "y", Resource: "y", Persisted: true, Aggregated: true},
			history.HostedResource{Group: "z", Resource: "z"}).writes("a", v1, 12).blames(t, "SV-01")
	})
	t.Run("a later discovery is about something else", func(t *testing.T) {
		newHistory().starts("a", 1).says(things, 8, "a="+v1).ready("a", 200, 9).hosts("a", 9).
			hosts("a", 11, history.HostedResource{Group: "n", Resource: "n", Persisted: true}).writes("a", v1, 12).blames(t, "SV-01")
	})
	t.Run("an answer of the process before is not this one's", func(t *testing.T) {
		h := newHistory().starts("a", 1).exits("a", 1).starts("a", 2)
		h.add(history.Event{Kind: history.KindReady, Member: "a", From: 1, Ready: &history.Ready{Code: 200, Revision: 9}})
		h.hosts("a", 9).writes("a", v1, 12).blames(t, "SV-01")
	})
}

func TestSV02Names(t *testing.T) {
	settled := func(h *historyBuilder) *historyBuilder {
		for i, m := range []string{"a", "b", "c"} {
			h.starts(m, 1).hosts(m, int64(20+i))
		}
		return h.holds(history.PhaseBegin, 22)
	}
	for name, h := range map[string]*historyBuilder{
		"without the group's word":        settled(newHistory().says("pods", 5)),
		"with an empty group":             settled(newHistory().says(".pods", 5)),
		"a resource that no server hosts": settled(newHistory().says("g.io.nothings", 5)),
		"the parts turned round":          settled(newHistory().says("things.g.io", 5)),
	} {
		t.Run(name, func(t *testing.T) {
			h.holds(history.PhaseEnd, 30).blames(t, "SV-02", "is not the <group>.<resource>")
		})
	}
	t.Run("a resource that the new release has no more", func(t *testing.T) {
		h := newHistory().says("g.io.olds", 5).starts("a", 1).hosts("a", 6, history.HostedResource{Group: group, Resource: "olds"}).exits("a", 1)
		h.starts("a", 2).starts("b", 1).starts("c", 1).hosts("a", 20).hosts("b", 21).hosts("c", 22).
			holds(history.PhaseEnd, 30).blames(t, "SV-02")
	})
	t.Run("a custom resource that came after discovery was read", func(t *testing.T) {
		settled(newHistory()).says("custom.io.soundings", 25).holds(history.PhaseEnd, 30).blames(t, "SV-02")
	})
	t.Run("a custom resource that is defined and not served yet", func(t *testing.T) {
		settled(newHistory().stored(history.Stored{
			Type: history.StoredPut, Key: "/registry/apiextensions.k8s.io/customresourcedefinitions/soundings.custom.io", Revision: 5,
			APIVersion: "apiextensions.k8s.io/v1", ObjectKind: "CustomResourceDefinition", Name: "soundings.custom.io",
		}).says("custom.io.soundings", 6)).holds(history.PhaseEnd, 30).blames(t, "SV-02")
	})
	t.Run("what a member hosts is not known since its restart", func(t *testing.T) {
		r := settled(newHistory().says("core.configmaps", 5).says(things, 6)).exits("b", 1).starts("b", 2).holds(history.PhaseEnd, 30).blames(t, "SV-02")
		counted(t, r, "of other groups", 0)
	})
	// simulated is a StorageVersion that the harness asks for, for a server that it simulates.
	const ghosts, unnamed = "g.io.ghosts", "is not the <group>.<resource>"
	simulated := func(code int, revision int64, changes ...func(*history.Event)) *historyBuilder {
		changes = append([]func(*history.Event){tampering(ghosts), verb("create")}, changes...)
		return newHistory().asks("a", code, revision, changes...)
	}
	t.Run("the harness created it", func(t *testing.T) {
		settled(simulated(201, 5).says(ghosts, 5)).holds(history.PhaseEnd, 30).blames(t, "SV-02")
		settled(simulated(201, 5).says(ghosts, 5).says(ghosts, 6, "x="+v1)).holds(history.PhaseEnd, 30).blames(t, "SV-02")
	})
	t.Run("the harness created another object of that name", func(t *testing.T) {
		settled(simulated(201, 5).says(ghosts, 5).deletes(ghosts, 6).says(ghosts, 7)).holds(history.PhaseEnd, 30).blames(t, "SV-02", unnamed)
	})
	t.Run("the harness was refused", func(t *testing.T) {
		settled(simulated(409, 0).says(ghosts, 5)).holds(history.PhaseEnd, 30).blames(t, "SV-02", unnamed)
		settled(simulated(503, 0).says(ghosts, 5)).holds(history.PhaseEnd, 30).blames(t, "SV-02", unnamed) // by the barrier
	})
	t.Run("the harness wrote to one that a server had created", func(t *testing.T) {
		settled(simulated(200, 6, verb("update")).says(ghosts, 5).says(ghosts, 6, "x="+v1)).holds(history.PhaseEnd, 30).blames(t, "SV-02", unnamed)
	})
	t.Run("the harness learnt of no outcome", func(t *testing.T) {
		r := settled(simulated(0, 0).says(ghosts, 5)).holds(history.PhaseEnd, 30).blames(t, "SV-02")
		reason(t, r, "learnt of no outcome")
		if r.Verdict != check.Inconclusive {
			t.Errorf("SV-02 is %s", r.Verdict)
		}
		settled(newHistory().says(ghosts, 5).asks("a", 0, 0, tampering(ghosts), verb("create"))).holds(history.PhaseEnd, 30).blames(t, "SV-02", unnamed)
	})
	t.Run("deleted by then", func(t *testing.T) {
		settled(newHistory().says("pods", 5).deletes("pods", 6)).holds(history.PhaseEnd, 30).blames(t, "SV-02")
	})
}

// Two servers that report under one identity have one entry for both, by which no agreement can
// be told.
func TestSV03_ServersOfOneIdentity(t *testing.T) {
	shared := func(members ...string) *historyBuilder {
		h := newHistory()
		h.header.Members[1].ServerID = "ida"
		for _, m := range members {
			h.starts(m, 1)
		}
		h.joins("a", 3)
		for _, m := range members {
			h.ready(m, 200, 5).hosts(m, 6)
		}
		return h.says(things, 10, "a="+v1).holds(history.PhaseBegin, 20).holds(history.PhaseEnd, 20)
	}
	const message = "ida is the identity of several servers that take part, and g.io.things has one entry for all of them"
	shared("a", "b").blames(t, "SV-03", message, message)
	for _, id := range []requirement.ID{"SV-03", "SV-06"} {
		reason(t, shared("a").blames(t, id), "the API servers of a and b have one identity, ida")
	}
}

func TestSV03Once(t *testing.T) {
	// a and b take part, are ready and host things; c is not there.
	settled := func() *historyBuilder {
		h := newHistory()
		for i, m := range []string{"a", "b"} {
			h.starts(m, 1).joins(m, int64(2+i)).ready(m, 200, 5).hosts(m, 6)
		}
		return h
	}
	collected := func() *historyBuilder { return settled().manager("a", history.ProcessStarted).leads("a", 7) }
	// flickers has the Lease of c, which has ended, go and come back.
	flickers := func() *historyBuilder {
		h := collected().starts("c", 1).joins("c", 8).says(things, 10, "a="+v1, "b="+v1, "c="+v1).exits("c", 1).pass(collectorStarts)
		return h.leaves("c", 11).pass(20*time.Second).joins("c", 12).pass(time.Second)
	}
	for _, tc := range []struct {
		name   string
		h      *historyBuilder
		blames []string
	}{
		{"all is well", settled().says(things, 10, "a="+v1, "b="+v1), nil},
		{"two entries that are the same", settled().says(things, 10, "a="+v1, "b="+v1, "b="+v1), []string{"more than one entry of idb"}},
		{"no entry", settled().says(things, 10, "a="+v1), []string{"idb takes part and hosts the resource, but has no entry"}},
		{"an entry under a wrong name", collected().says(things, 10, "a="+v1, "x="+v1).pass(departedEntryGoes + collectorStarts), []string{"idb takes part", `an entry of "idx", which has no identity Lease`}},
		{"an entry of one that left just now", settled().joins("c", 8).says(things, 10, "a="+v1, "b="+v1, "c="+v1).leaves("c", 11), nil},
		{"an entry of one that left long ago", collected().joins("c", 8).says(things, 10, "a="+v1, "b="+v1, "c="+v1).leaves("c", 11).pass(departedEntryGoes + collectorStarts), []string{`an entry of "idc"`}},
		{"an entry of one that left long ago, whose Lease was back for a moment", flickers().leaves("c", 13).pass(20 * time.Second), []string{`an entry of "idc"`}},
		{"an entry of one whose Lease is back", flickers().leaves("c", 13).pass(20*time.Second).joins("c", 14).pass(time.Second), nil},
		{"an entry of one whose Lease was back for most of the time", flickers().pass(time.Minute).leaves("c", 13).pass(5 * time.Second), nil},
		{"an entry of one that left long ago, without a collector", settled().joins("c", 8).says(things, 10, "a="+v1, "b="+v1, "c="+v1).leaves("c", 11).pass(departedEntryGoes + collectorStarts), nil},
		{"one that boots has not reported", settled().joins("c", 8).starts("c", 1).says(things, 10, "a="+v1, "b="+v1), nil},
		{"one that boots again has not reported", settled().exits("b", 1).starts("b", 2).says(things, 10, "a="+v1), nil},
		{"one that crashed still takes part", settled().exits("b", 1).says(things, 10, "a="+v1), []string{"idb takes part"}},
		{"the harness has just deleted the object", settled().says(things, 10, "a="+v1, "b="+v1).asks("a", 200, 11, tampering(things)).deletes(things, 11).says(things, 12, "a="+v1), nil},
		{"the harness deleted it too long ago", settled().says(things, 10, "a="+v1, "b="+v1).asks("a", 200, 11, tampering(things)).deletes(things, 11).says(things, 12, "a="+v1).pass(tamperRepaired), []string{"idb takes part"}},
		{"another client deleted it", settled().says(things, 10, "a="+v1, "b="+v1).deletes(things, 11).says(things, 12, "a="+v1), []string{"idb takes part"}},
		{"a StorageVersion of a resource that no server hosts", settled().says(things, 9, "a="+v1, "b="+v1).says("g.io.others", 10, "a="+v1), nil},
		{"it was never there", settled(), []string{"ida takes part and hosts the resource, but there is no g.io.things", "idb takes part and hosts the resource, but there is no g.io.things"}},
		{"another client removed it whole", settled().says(things, 10, "a="+v1, "b="+v1).deletes(things, 11), []string{"there is no g.io.things", "there is no g.io.things"}},
		{"the harness has just deleted it", settled().says(things, 10, "a="+v1, "b="+v1).deletes(things, 11).asks("a", 200, 11, tampering(things)), nil},
		{"the harness deleted it long ago", settled().says(things, 10, "a="+v1, "b="+v1).deletes(things, 11).asks("a", 200, 11, tampering(things)).pass(tamperRepaired + time.Second), []string{"there is no g.io.things", "there is no g.io.things"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.h.holds(history.PhaseBegin, 20).holds(history.PhaseEnd, 20).blames(t, "SV-03", tc.blames...)
		})
	}
	t.Run("the harness may have deleted it, and has no answer", func(t *testing.T) {
		h := settled().says(things, 10, "a="+v1, "b="+v1).asks("a", 0, 0, tampering(things)).deletes(things, 11).says(things, 12, "a="+v1)
		r := h.holds(history.PhaseBegin, 20).holds(history.PhaseEnd, 20).blames(t, "SV-03")
		reason(t, r, "the harness may have changed the object shortly before")
	})
}

func probe(flaw string, code int, name string) func(*history.Event) {
	return func(ev *history.Event) {
		ev.Request.Class, ev.Request.Invalid, ev.Request.Code, ev.Request.Name, ev.Request.Barrier = history.ClassInvalid, flaw, code, name, false
	}
}

func TestProbesOfInvalidStatuses(t *testing.T) {
	for _, tc := range []struct {
		id            string
		flaw, message string
		what          string
	}{
		{"SV-03", history.InvalidDuplicate, "in which one server has two entries", ""},
		{"SV-04", history.InvalidUndecodable, "whose encoding version cannot be decoded", "undecodable version refused"},
		{"SV-06", history.InvalidAgreement, "though the entries differ", "false agreement refused"},
	} {
		t.Run(tc.id, func(t *testing.T) {
			id := requirement.ID(tc.id)
			newHistory().asks("a", 0, 0, probe(tc.flaw, 200, "x")).blames(t, id, tc.message)
			newHistory().asks("a", 0, 0, probe("other", 200, "x")).blames(t, id)
			if tc.what == "" {
				return
			}
			for name, seen := range map[string]struct {
				h *historyBuilder
				n int64
			}{
				"after the same status without a flaw":    {newHistory().asks("a", 0, 0, probe("", 200, "x")).asks("a", 0, 0, probe(tc.flaw, 422, "x")), 1},
				"of who refuses everything":               {newHistory().asks("a", 0, 0, probe("", 422, "x")).asks("a", 0, 0, probe(tc.flaw, 422, "x")), 0},
				"of who takes nothing any more":           {newHistory().asks("a", 0, 0, probe("", 200, "x")).asks("a", 0, 0, probe("", 422, "x")).asks("a", 0, 0, probe(tc.flaw, 422, "x")), 0},
				"of another object":                       {newHistory().asks("a", 0, 0, probe("", 200, "y")).asks("a", 0, 0, probe(tc.flaw, 422, "x")), 0},
				"by another member":                       {newHistory().asks("b", 0, 0, probe("", 200, "x")).asks("a", 0, 0, probe(tc.flaw, 422, "x")), 0},
				"for a conflict":                          {newHistory().asks("a", 0, 0, probe("", 200, "x")).asks("a", 0, 0, probe(tc.flaw, 409, "x")), 0},
				"because the server has no such resource": {newHistory().asks("a", 0, 0, probe("", 200, "x")).asks("a", 0, 0, probe(tc.flaw, 404, "x")), 0},
			} {
				t.Run(name, func(t *testing.T) { counted(t, seen.h.blames(t, id), tc.what, seen.n) })
			}
		})
	}
}

func TestSV04Decodable(t *testing.T) {
	h := newHistory().says(things, 5, "a="+v1)
	h.events[0].Stored.StorageVersion.Entries[0].Decodable = []string{v2}
	h.blames(t, "SV-04", "ida encodes g.io/v1 and decodes only [g.io/v2]")
}

func TestSV05Served(t *testing.T) {
	serving := func(versions ...string) *historyBuilder {
		h := newHistory().starts("a", 1).says(things, 5, "a="+v1)
		h.events[1].Stored.StorageVersion.Entries[0].Served = versions
		return h
	}
	differs := "but its discovery lists"
	t.Run("as discovery has it, in another order", func(t *testing.T) {
		r := serving(v2, v1).ready("a", 200, 6).hosts("a", 6).writes("a", v1, 9).blames(t, "SV-05")
		counted(t, r, "compared", 1)
	})
	t.Run("one of them twice does not make two", func(t *testing.T) {
		serving(v1, v1).ready("a", 200, 6).hosts("a", 6).writes("a", v1, 9).blames(t, "SV-05", differs)
	})
	// lists has the discovery list only the first version, and the server answer
	// for the others given.
	lists := func(h *historyBuilder, unlisted ...string) *historyBuilder {
		one := thing()
		one.Served, one.Unlisted = []string{v1}, unlisted
		return h.ready("a", 200, 6).lists("a", 6, one).writes("a", v1, 9)
	}
	t.Run("not listed, and answered all the same", func(t *testing.T) {
		counted(t, lists(serving(v1, v2), v2).blames(t, "SV-05"), "compared", 1)
	})
	t.Run("neither listed nor answered", func(t *testing.T) {
		lists(serving(v1, v2)).blames(t, "SV-05", differs+" [g.io/v1]")
	})
	t.Run("answered and not claimed", func(t *testing.T) {
		lists(serving(v1), v2).blames(t, "SV-05", differs+" [g.io/v1] and, unlisted, has [g.io/v2]")
	})
	// peers has b list the version that a answers for without listing it, and a tell of
	// itself alone, where it is asked.
	peers := func(h *historyBuilder, local ...string) *historyBuilder {
		h.starts("b", 1).ready("b", 200, 6).hosts("b", 6)
		if len(local) > 0 {
			l := history.Listing{Groups: []history.ListedGroup{{Name: group}}}
			for _, v := range local {
				l.Groups[0].Versions = append(l.Groups[0].Versions, history.ListedVersion{Version: v})
			}
			h.add(history.Event{Kind: history.KindDiscoveryDocument, Member: "a", From: h.now, DiscoveryDocument: &history.DiscoveryDocument{
				Path: "/apis", Accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer", Code: 200, Content: "c", Listing: &l,
			}})
		}
		return lists(h, v2)
	}
	t.Run("a peer answers", func(t *testing.T) {
		counted(t, peers(serving(v1), "v1").blames(t, "SV-05"), "compared", 1)
	})
	t.Run("a peer answers for what is claimed", func(t *testing.T) {
		peers(serving(v1, v2), "v1").blames(t, "SV-05", differs+" [g.io/v1]")
	})
	t.Run("it hosts what a peer lists, too", func(t *testing.T) {
		peers(serving(v1), "v1", "v2").blames(t, "SV-05", differs+" [g.io/v1] and, unlisted, has [g.io/v2]")
		peers(serving(v1, v2), "v1", "v2").blames(t, "SV-05")
	})
	t.Run("its local view is not known", func(t *testing.T) {
		peers(serving(v1)).blames(t, "SV-05", differs+" [g.io/v1] and, unlisted, has [g.io/v2]")
	})
	t.Run("more than it can decode, though no discovery is ever read", func(t *testing.T) {
		serving(v1, "g.io/v3").blames(t, "SV-05", "serves g.io/v3 and decodes only")
	})
	t.Run("the entry of that moment counts", func(t *testing.T) {
		serving(v1).ready("a", 200, 9).hosts("a", 9).says(things, 8, "a="+v1).writes("a", v1, 12).blames(t, "SV-05")
	})
	t.Run("a discovery while one process replaces another belongs to neither", func(t *testing.T) {
		h := serving(v1).ready("a", 200, 6).exits("a", 1).starts("a", 2).ready("a", 200, 7)
		h.add(history.Event{Kind: history.KindHostedResources, Member: "a", From: 1, HostedResources: &history.HostedResources{Revision: 7, Resources: []history.HostedResource{thing()}}})
		h.pass(time.Second).writes("a", v1, 9).blames(t, "SV-05")
	})
}
