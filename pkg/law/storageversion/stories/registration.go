package stories

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	lanternsName = story.LanternsGroup + ".lanterns"
	// stormInterval is how long it is from one edit of a storm to the next.
	stormInterval = 250
)

// registrationStory is a run in which servers register as they should whatever
// they meet: a custom resource changes its storage version there and back, one
// member joins and cannot report, and each starts under a storm of edits.
func registrationStory() []history.Event {
	p := newBuilder()
	p.boot()
	for _, stored := range []string{"v1beta1", "v1", "v1beta1"} {
		p.changeStoredVersion(stored)
	}
	p.joinWithoutReporting(p.Members[2])
	for _, m := range p.Members {
		p.storm(m)
	}
	p.Advance(20)
	p.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return p.Events
}

// registrationHeader is that of the story.
func registrationHeader() history.Header {
	h := story.NewHeader()
	h.Writes = append(h.Writes, history.WrittenResource{Group: story.LanternsGroup, Resource: "lanterns", Kind: "Lanterns"})
	return h
}

// changeStoredVersion has lanterns stored in a version from now on: each member announces it and
// then writes in it.
func (p *builder) changeStoredVersion(stored string) {
	p.Advance(500)
	p.Request(p.Members[0], history.Request{Class: history.ClassGuarded, Verb: "update", Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions", Name: "lanterns." + story.LanternsGroup, Code: 200, ResourceVersion: p.NextRevision(),
		Defines: &history.Definition{Group: story.LanternsGroup, Resource: "lanterns", Versions: []string{"v1", "v1beta1"}, Stored: stored}})
	p.LanternsDefined = true
	both := []string{story.LanternsGroup + "/v1", story.LanternsGroup + "/v1beta1"}
	for _, m := range p.Members {
		p.Advance(20)
		p.ReadDiscovery(m)
		p.ReportEntry(m, lanternsName, history.Entry{ServerID: m.ServerID(), Encoding: story.LanternsGroup + "/" + stored, Decodable: both, Served: both})
		for range 4 {
			p.writeLantern(m, stored)
		}
	}
}

// writeLantern stores a lantern through a member.
func (p *builder) writeLantern(m *story.Member, stored string) {
	m.Writes++
	name := "default/t0-" + m.Name
	from := p.Now
	p.Advance(2)
	revision := p.Store("/registry/"+story.LanternsGroup+"/lanterns/"+name, story.LanternsGroup+"/"+stored, "Lanterns", name, history.Stored{Writer: m.Name, Write: m.Writes})
	p.Emit(history.Event{Kind: history.KindRequest, Member: m.Name, From: from, Request: &history.Request{
		Class: history.ClassCustom, Verb: "update", Group: story.LanternsGroup, Version: "v1", Resource: "lanterns", Name: name,
		Code: 200, ResourceVersion: revision, Write: m.Writes,
	}})
}

// stormObjects are the StorageVersions that a storm is about.
var stormObjects = []string{"core.configmaps", "core.secrets"}

// storm starts a member's API server again while an administrator edits StorageVersions
// that it has to write to.
func (p *builder) storm(m *story.Member) {
	through := p.Members[(slices.Index(p.Members, m)+1)%len(p.Members)]
	fault := func(phase history.Phase, count int64, proof string) {
		p.Emit(history.Event{Kind: history.KindFault, Member: m.Name, Fault: &history.Fault{
			ID: "storm-" + m.Name, Type: history.FaultConflictStorm, Action: history.FaultConflictStormEdits, Component: history.ComponentAPIServer,
			Objects: stormObjects, Phase: phase, Count: count, Proof: proof,
		}})
	}
	p.Advance(500)
	p.Exit(m, "exit status 0", true)
	for _, name := range stormObjects {
		sv := p.StorageVersions[name]
		sv.Entries = slices.DeleteFunc(sv.Entries, func(e history.Entry) bool { return e.ServerID == m.ServerID() })
		p.UpdateAgreement(sv)
		p.editVersion(through, name, "update", "storageversions/status")
	}
	fault(history.PhaseInject, 0, "")
	edits := func() {
		for _, name := range stormObjects {
			p.Advance(stormInterval / int64(len(stormObjects)))
			p.editVersion(through, name, "patch", "storageversions")
		}
	}
	p.Start(m, m.Release)
	p.AnswerReady(m, 500, false)
	p.RenewIdentity(m)
	for range 3 {
		edits()
		p.RefuseWrite(m, "configmaps")
	}
	for _, r := range story.Hosted {
		p.ReportResource(m, r)
	}
	edits()
	p.AnswerReady(m, 200, true)
	p.OpenWatch(m)
	fault(history.PhaseWitness, 2, "12 edits were taken, and the server counts 2 conflicts")
	fault(history.PhaseHeal, 0, "")
}

// editVersion publishes a StorageVersion at the request of an administrator.
func (p *builder) editVersion(through *story.Member, name, verb, resource string) {
	p.Publish(name)
	p.Request(through, history.Request{Class: history.ClassGuarded, Verb: verb, Group: "internal.apiserver.k8s.io", Version: "v1alpha1",
		Resource: resource, Name: name, Code: 200, ResourceVersion: p.Revision})
}

// joinWithoutReporting has a member leave the participants and join them anew, and not
// report for long.
func (p *builder) joinWithoutReporting(m *story.Member) {
	p.Advance(500)
	p.Exit(m, "exit status 0", true)
	p.DeleteIdentity(m.ServerID())
	m.Left = true
	p.updateAll(func(sv *history.StorageVersion) {
		sv.Entries = slices.DeleteFunc(sv.Entries, func(e history.Entry) bool { return e.ServerID == m.ServerID() })
	})
	p.Start(m, m.Release)
	p.AnswerReady(m, 500, false)
	p.RenewIdentity(m)
	m.Left = false
	p.updateAll(func(*history.StorageVersion) {})
	for range 5 {
		p.Advance(4000)
		p.RefuseWrite(m, "configmaps")
	}
	for _, r := range story.Hosted {
		p.ReportResource(m, r)
	}
	p.AnswerReady(m, 200, true)
	p.OpenWatch(m)
}

// updateAll has the collector change all StorageVersions of built-in resources, and
// form their agreement anew.
func (p *builder) updateAll(change func(*history.StorageVersion)) {
	for _, r := range story.Hosted {
		sv := p.StorageVersions[story.StorageVersionName(r)]
		change(sv)
		p.UpdateAgreement(sv)
		p.Publish(story.StorageVersionName(r))
	}
}

// registrationCases are about what the story of registrations tells.
var registrationCases = []story.Case{
	{
		Requirement: "SV-08", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindReady), identities, story.DiscoveryReads, unreportedMember),
		Fail: func(e *story.Edit) {
			// The agreement on secrets stays when cp3 joins.
			joined := e.Events[e.Find(len(newBuilder().Members)+1, story.IdentitiesCreated)].At
			e.Drop(story.AllOf(story.StorageVersionWrites, about("core.secrets"), story.Later(joined), func(ev *history.Event) bool { return len(ev.Stored.StorageVersion.Entries) == 2 }))
		},
		Weak: func(e *story.Edit) {
			// cp3 reports so soon that no server has to have noticed.
			late := e.Events[e.Find(len(newBuilder().Members)+1, story.IdentitiesCreated)].At + int64(5*time.Second)
			sooner := func(at int64) int64 { return min(at, late+max(at-late, 0)/8) }
			e.Each(story.Later(late), func(ev *history.Event) { ev.At, ev.From = sooner(ev.At), sooner(ev.From) })
		},
	},
	{
		Requirement: "SV-10", Reads: story.AnyOf(story.OfKind(history.KindProcess, history.KindReady, history.KindFault), stormEdits, story.AllOf(story.StorageVersionWrites, about(stormObjects...)), story.DiscoveryReads),
		Fail: func(e *story.Edit) {
			// cp2 gives up at secrets, and is ready all the same.
			i := e.Find(1, story.AllOf(story.OfKind(history.KindFault), story.OfMember("cp2")))
			e.Each(story.AllOf(story.StorageVersionWrites, about("core.secrets"), story.Later(e.Events[i].At)), func(ev *history.Event) {
				sv := ev.Stored.StorageVersion
				at := slices.IndexFunc(sv.Entries, func(e history.Entry) bool { return e.ServerID == "apiserver-cp2" })
				if at >= 0 && len(sv.Entries) == len(newBuilder().Members) {
					sv.Entries = slices.Delete(sv.Entries, at, at+1)
				}
			})
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(stormEdits, story.OfMember("cp1"), func(ev *history.Event) bool { return ev.Request.Verb == "patch" }))
		},
	},
	{
		Requirement: "SV-24", Reads: story.AnyOf(story.OfKind(history.KindProcess), story.AllOf(story.StorageVersionWrites, about(lanternsName)), lanterns, customDefinitions),
		Fail: func(e *story.Edit) {
			// cp2 writes before it has announced the change.
			i := e.Find(2, customDefinitions)
			first := e.Find(1, story.AllOf(lanterns, story.Later(e.Events[i].At), func(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Writer == "cp1" }))
			late := e.Find(1, story.AllOf(story.StorageVersionWrites, about(lanternsName), story.Later(e.Events[first].At)))
			early := e.Find(1, story.AllOf(lanterns, story.Later(e.Events[late].At), func(ev *history.Event) bool { return ev.Stored != nil }))
			e.Events[late].Stored.Revision, e.Events[early].Stored.Revision = e.Events[early].Stored.Revision, e.Events[late].Stored.Revision
			e.Events[early+1].Request.ResourceVersion = e.Events[early].Stored.Revision
			e.Events[late].Stored, e.Events[early].Stored = e.Events[early].Stored, e.Events[late].Stored
		},
		Weak: func(e *story.Edit) {
			e.StopAt(e.Find(3, customDefinitions))
		},
	},
}

// identities are the Leases by which members take part, and that they go.
func identities(ev *history.Event) bool {
	return story.IdentitiesCreated(ev) || story.Deletions(ev)
}

// unreportedMember is what tells of the member that joins and cannot report.
func unreportedMember(ev *history.Event) bool {
	return story.StorageVersionWrites(ev) && ev.Stored.Name != lanternsName || story.AllOf(story.OfMember("cp3"), refusedByBarrier)(ev)
}

func customDefinitions(ev *history.Event) bool { return ev.Request != nil && ev.Request.Defines != nil }

// stormEdits are the edits of StorageVersions.
func stormEdits(ev *history.Event) bool {
	return ev.Request != nil && ev.Request.Class == history.ClassGuarded && ev.Request.Group == "internal.apiserver.k8s.io"
}

func lanterns(ev *history.Event) bool {
	return ev.Stored != nil && ev.Stored.ObjectKind == "Lanterns" || story.RequestsOfClass(history.ClassCustom)(ev) && ev.Request.Resource == "lanterns"
}
