package main

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	lanternsGroup = "lanterns.evenkeel.dev"
	lanternsName  = lanternsGroup + ".lanterns"
	// storming is how long it is from one edit of a storm to the next.
	storming = 250
)

// registrationStory is a run in which servers register as they should whatever
// they meet: a custom resource changes its storage version there and back, one
// member joins and cannot report, and each starts under a storm of edits.
func registrationStory() []history.Event {
	p := newPlane()
	p.boot()
	for _, stored := range []string{"v1beta1", "v1", "v1beta1"} {
		p.flip(stored)
	}
	p.joinSilently(p.members[2])
	for _, m := range p.members {
		p.storm(m)
	}
	p.pass(20)
	p.emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return p.events
}

// registrationHeader is that of the story.
func registrationHeader() history.Header {
	h := header()
	h.Writes = append(h.Writes, history.WrittenResource{Group: lanternsGroup, Resource: "lanterns", Kind: "Lanterns"})
	return h
}

// flip has lanterns stored in a version from now on: each member announces it and
// then writes in it.
func (p *plane) flip(stored string) {
	p.pass(500)
	p.request(p.members[0], history.Request{Class: history.ClassGuarded, Verb: "update", Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions", Name: "lanterns." + lanternsGroup, Code: 200, ResourceVersion: p.next(),
		Defines: &history.Definition{Group: lanternsGroup, Resource: "lanterns", Versions: []string{"v1", "v1beta1"}, Stored: stored}})
	p.lit = true
	both := []string{lanternsGroup + "/v1", lanternsGroup + "/v1beta1"}
	for _, m := range p.members {
		p.pass(20)
		p.look(m)
		p.announce(m, lanternsName, history.Entry{ServerID: m.id(), Encoding: lanternsGroup + "/" + stored, Decodable: both, Served: both})
		for range 4 {
			p.light(m, stored)
		}
	}
}

// light stores a lantern through a member.
func (p *plane) light(m *member, stored string) {
	m.writes++
	name := "default/t0-" + m.name
	from := p.now
	p.pass(2)
	revision := p.stored("/registry/"+lanternsGroup+"/lanterns/"+name, lanternsGroup+"/"+stored, "Lanterns", name, history.Stored{Writer: m.name, Write: m.writes})
	p.emit(history.Event{Kind: history.KindRequest, Member: m.name, From: from, Request: &history.Request{
		Class: history.ClassCustom, Verb: "update", Group: lanternsGroup, Version: "v1", Resource: "lanterns", Name: name,
		Code: 200, ResourceVersion: revision, Write: m.writes,
	}})
}

// stormed are the StorageVersions that a storm is about.
var stormed = []string{"core.configmaps", "core.secrets"}

// storm starts a member's API server again while somebody edits StorageVersions
// that it has to write to.
func (p *plane) storm(m *member) {
	through := p.members[(slices.Index(p.members, m)+1)%len(p.members)]
	fault := func(phase history.Phase, count int64, proof string) {
		p.emit(history.Event{Kind: history.KindFault, Member: m.name, Fault: &history.Fault{
			ID: "storm-" + m.name, Type: history.FaultStorm, Action: history.FaultStormEdits, Component: history.ComponentAPIServer,
			Objects: stormed, Phase: phase, Count: count, Proof: proof,
		}})
	}
	p.pass(500)
	p.exit(m, "exit status 0", true)
	for _, name := range stormed {
		sv := p.versions[name]
		sv.Entries = slices.DeleteFunc(sv.Entries, func(e history.Entry) bool { return e.ServerID == m.id() })
		p.agree(sv)
		p.edit(through, name, "update", "storageversions/status")
	}
	fault(history.PhaseInject, 0, "")
	edits := func() {
		for _, name := range stormed {
			p.pass(storming / int64(len(stormed)))
			p.edit(through, name, "patch", "storageversions")
		}
	}
	p.start(m, m.release)
	p.ready(m, 500, false)
	p.renew(m)
	for range 3 {
		edits()
		p.refused(m, "configmaps")
	}
	for _, r := range hosted {
		p.report(m, r)
	}
	edits()
	p.ready(m, 200, true)
	p.watch(m)
	fault(history.PhaseWitness, 2, "12 edits were taken, and the server counts 2 conflicts")
	fault(history.PhaseHeal, 0, "")
}

// edit publishes a StorageVersion at the request of an administrator.
func (p *plane) edit(through *member, name, verb, resource string) {
	p.publish(name)
	p.request(through, history.Request{Class: history.ClassGuarded, Verb: verb, Group: "internal.apiserver.k8s.io", Version: "v1alpha1",
		Resource: resource, Name: name, Code: 200, ResourceVersion: p.revision})
}

// joinSilently has a member leave the participants and join them anew, and not
// report for long.
func (p *plane) joinSilently(m *member) {
	p.pass(500)
	p.exit(m, "exit status 0", true)
	p.leaves(m.id())
	m.gone = true
	p.reform(func(sv *history.StorageVersion) {
		sv.Entries = slices.DeleteFunc(sv.Entries, func(e history.Entry) bool { return e.ServerID == m.id() })
	})
	p.start(m, m.release)
	p.ready(m, 500, false)
	p.renew(m)
	m.gone = false
	p.reform(func(*history.StorageVersion) {})
	for range 5 {
		p.pass(4000)
		p.refused(m, "configmaps")
	}
	for _, r := range hosted {
		p.report(m, r)
	}
	p.ready(m, 200, true)
	p.watch(m)
}

// reform has the collector change all StorageVersions of built-in resources, and
// form their agreement anew.
func (p *plane) reform(change func(*history.StorageVersion)) {
	for _, r := range hosted {
		sv := p.versions[objectName(r)]
		change(sv)
		p.agree(sv)
		p.publish(objectName(r))
	}
}

// registrationCases are about what the story of registrations tells.
var registrationCases = []testCase{
	{
		id: "SV-08", reads: either(kinds(history.KindProcess, history.KindReady), identities, looks, silent),
		fails: "core.secrets called v1 agreed 15s after cp3 had joined, which had not reported in it",
		fail: func(e *edit) {
			// Nobody takes the agreement on secrets back when cp3 joins.
			joined := e.events[e.find(len(newPlane().members)+1, joins)].At
			e.drop(both(versions, about("core.secrets"), after(joined), func(ev *history.Event) bool { return len(ev.Stored.StorageVersion.Entries) == 2 }))
		},
		why: "saw 0 StorageVersions in which a server that had joined did not report for long, and all others agreed, and needs at least 5",
		weak: func(e *edit) {
			// cp3 reports so soon that nobody must have noticed.
			late := e.events[e.find(len(newPlane().members)+1, joins)].At + int64(5*time.Second)
			e.each(after(late), func(ev *history.Event) { ev.At = late + (ev.At-late)/8 })
		},
	},
	{
		id: "SV-10", reads: either(kinds(history.KindProcess, history.KindReady, history.KindFault), storms, both(versions, about(stormed...)), looks),
		fails: "cp2 was ready at revision",
		fail: func(e *edit) {
			// cp2 gives up at secrets, and is ready all the same.
			i := e.find(1, both(kinds(history.KindFault), of("cp2")))
			e.each(both(versions, about("core.secrets"), after(e.events[i].At)), func(ev *history.Event) {
				sv := ev.Stored.StorageVersion
				at := slices.IndexFunc(sv.Entries, func(e history.Entry) bool { return e.ServerID == "apiserver-cp2" })
				if at >= 0 && len(sv.Entries) == len(newPlane().members) {
					sv.Entries = slices.Delete(sv.Entries, at, at+1)
				}
			})
		},
		why: "saw 0 registrations while StorageVersions were edited more often than once a second, of the member with the fewest, and needs at least 1",
		weak: func(e *edit) {
			e.drop(both(storms, of("cp1"), func(ev *history.Event) bool { return ev.Request.Verb == "patch" }))
		},
	},
	{
		id: "SV-24", reads: either(kinds(history.KindProcess), both(versions, about(lanternsName)), lanterns, customDefinitions),
		fails: "cp2 stored default/t0-cp2 of the custom resource lanterns as lanterns.evenkeel.dev/v1 at revision",
		fail: func(e *edit) {
			// cp2 writes before it has announced the change.
			i := e.find(2, customDefinitions)
			first := e.find(1, both(lanterns, after(e.events[i].At), func(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Writer == "cp1" }))
			late := e.find(1, both(versions, about(lanternsName), after(e.events[first].At)))
			early := e.find(1, both(lanterns, after(e.events[late].At), func(ev *history.Event) bool { return ev.Stored != nil }))
			e.events[late].Stored.Revision, e.events[early].Stored.Revision = e.events[early].Stored.Revision, e.events[late].Stored.Revision
			e.events[early+1].Request.ResourceVersion = e.events[early].Stored.Revision
			e.events[late].Stored, e.events[early].Stored = e.events[early].Stored, e.events[late].Stored
		},
		why: "saw 0 changes back to a storage version that the member had left, of the member with the fewest, and needs at least 1",
		weak: func(e *edit) {
			e.stopAt(e.find(3, customDefinitions))
		},
	},
}

// identities are the Leases by which members take part, and that they go.
func identities(ev *history.Event) bool {
	return joins(ev) || deletions(ev)
}

// silent is what tells of the member that joins and cannot report.
func silent(ev *history.Event) bool {
	return versions(ev) && ev.Stored.Name != lanternsName || both(of("cp3"), barred)(ev)
}

func customDefinitions(ev *history.Event) bool { return ev.Request != nil && ev.Request.Defines != nil }

// storms are the edits of StorageVersions.
func storms(ev *history.Event) bool {
	return ev.Request != nil && ev.Request.Class == history.ClassGuarded && ev.Request.Group == "internal.apiserver.k8s.io"
}

func lanterns(ev *history.Event) bool {
	return ev.Stored != nil && ev.Stored.ObjectKind == "Lanterns" || requests(history.ClassCustom)(ev) && ev.Request.Resource == "lanterns"
}

// after fits what is later than a time.
func after(at int64) keep { return func(ev *history.Event) bool { return ev.At > at } }
