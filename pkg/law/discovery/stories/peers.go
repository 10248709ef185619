package stories

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	localJSON    = v2JSON + ";profile=nopeer"
	alphaVersion = "v1alpha1"
	alphaPath    = "/apis/" + story.BallastGroup + "/" + alphaVersion
)

// peerBuilder is a control plane whose members tell of each other's resources as they
// should.
type peerBuilder struct{ *builder }

// peersStory is a run in which two of three members are upgraded, so that only the
// third one hosts the oldest version, and the third one leaves.
func peersStory() []history.Event {
	f := &peerBuilder{&builder{ControlPlane: story.NewControlPlane(), sweeps: map[string]int64{}, ids: map[string]int{}}}
	cp1, cp2, cp3 := f.Members[0], f.Members[1], f.Members[2]
	for _, m := range f.Members {
		f.join(m, m.Release)
	}
	for _, m := range []*story.Member{cp1, cp2} {
		f.exit(m)
		f.join(m, "1.3")
	}
	f.pollAll()
	f.Advance(32_000)
	f.pollAll()
	for _, m := range f.Members {
		f.sweep(m)
	}
	f.pollAll()
	f.Advance(1100) // longer than the recorder of etcd may be late
	f.exit(cp3)
	f.DeleteIdentity(cp3.ServerID())
	cp3.Left = true
	f.pollAll()
	f.Advance(36_000)
	f.pollAll()
	f.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return f.Events
}

// join has a member start, join and be ready, and be looked at.
func (f *peerBuilder) join(m *story.Member, release string) {
	f.Start(m, release)
	f.RenewIdentity(m)
	f.Advance(1000)
	from := f.Now
	f.Advance(3)
	f.Emit(history.Event{Kind: history.KindReady, Member: m.Name, From: from, Ready: &history.Ready{Code: 200, Revision: f.Revision}})
	f.sweep(m)
}

// exit has the process of a member end in good order.
func (f *peerBuilder) exit(m *story.Member) {
	f.Emit(history.Event{Kind: history.KindProcess, Member: m.Name, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: m.Instance, Release: m.Release, Exit: "exit status 0", Expected: true,
	}})
}

// pollAll has every member looked at that is there.
func (f *peerBuilder) pollAll() {
	f.Advance(800)
	for _, m := range f.Members {
		if !m.Left {
			f.ask(m, history.DiscoveryDocument{Path: "/apis", Accept: v2JSON})
		}
	}
}

func (f *peerBuilder) sweep(m *story.Member) {
	f.sweeps[m.Name]++
	ask := func(d history.DiscoveryDocument) {
		d.Sweep = f.sweeps[m.Name]
		f.ask(m, d)
	}
	ask(history.DiscoveryDocument{Path: "/apis", Accept: v2JSON})
	ask(history.DiscoveryDocument{Path: "/apis", Accept: localJSON})
	ask(history.DiscoveryDocument{Path: "/apis"})
	own := f.hosts(m)
	for _, v := range own {
		ask(history.DiscoveryDocument{Path: "/apis/" + v.group + "/" + v.version, Accept: plainJSON})
	}
	for _, v := range f.all() {
		if !slices.Contains(own, v) {
			from := f.Now
			f.Advance(4)
			f.Emit(history.Event{Kind: history.KindDiscoveryDocument, Member: m.Name, From: from, DiscoveryDocument: &history.DiscoveryDocument{
				Path: "/apis/" + v.group + "/" + v.version + "/" + v.resource, Accept: plainJSON, Sweep: f.sweeps[m.Name],
				Code: 200, ContentType: plainJSON, Size: 300,
			}})
		}
	}
	ask(history.DiscoveryDocument{Path: "/apis", Accept: v2JSON, Last: true})
}

// ask has a member tell of all, where that is what it is asked for, and of itself
// else.
func (f *peerBuilder) ask(m *story.Member, d history.DiscoveryDocument) {
	f.own = f.hosts(m)
	if d.Accept == v2JSON {
		f.own = f.all()
	}
	f.answer(m, d)
}

// hosts is what a member hosts itself.
func (f *peerBuilder) hosts(m *story.Member) []hostedVersion {
	own := []hostedVersion{{group: "coordination.k8s.io", version: "v1", resource: "leases"}}
	for _, served := range story.Releases[m.Release].Served {
		own = append(own, hostedVersion{group: story.BallastGroup, version: strings.TrimPrefix(served, story.BallastGroup+"/"), resource: "ballasts"})
	}
	return own
}

// all is what the members host that are there.
func (f *peerBuilder) all() []hostedVersion {
	var all []hostedVersion
	for _, m := range f.Members {
		if m.Left || m.Instance == 0 {
			continue
		}
		for _, v := range f.hosts(m) {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// peersCases are how the story of peers is changed.
var peersCases = []story.Case{
	{
		Requirement: "AD-23", Reads: peersRead,
		Fail: func(e *story.Edit) {
			// One member does not know of the last one's version, which clients of it
			// can use all the same.
			e.Each(story.AllOf(swept(v2JSON), story.OfMember("cp1"), ofSweep(3)), func(ev *history.Event) { e.RewriteListing(ev, withoutAlpha) })
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfMember("cp2"), at(alphaPath+"/ballasts"))) },
	},
	{
		Requirement: "AD-24", Reads: peersRead,
		Fail: func(e *story.Edit) {
			ev := &e.Events[e.FindLast(story.AllOf(polls, story.OfMember("cp2")))]
			e.RewriteListing(ev, withAlpha)
		},
		Weak: func(e *story.Edit) { e.DropAt(e.FindLast(story.AllOf(polls, story.OfMember("cp1")))) },
	},
}

// peersRead is what the checks of peers read.
var peersRead = story.AnyOf(story.Lifecycle, documents, story.IdentitiesCreated, story.Deletions)

// ofSweep fits the answers of a thorough look at a member.
func ofSweep(number int64) story.Match {
	return func(ev *history.Event) bool { return documents(ev) && ev.DiscoveryDocument.Sweep == number }
}

func withoutAlpha(l *history.Listing) {
	for i := range l.Groups {
		l.Groups[i].Versions = slices.DeleteFunc(l.Groups[i].Versions, func(v history.ListedVersion) bool { return v.Version == alphaVersion })
	}
}

func withAlpha(l *history.Listing) {
	at := slices.IndexFunc(l.Groups, func(g history.ListedGroup) bool { return g.Name == story.BallastGroup })
	l.Groups[at].Versions = append(l.Groups[at].Versions, listedVersion(hostedVersion{group: story.BallastGroup, version: alphaVersion, resource: "ballasts"}, true))
}
