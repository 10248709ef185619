package main

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	localJSON    = v2JSON + ";profile=nopeer"
	alphaVersion = "v1alpha1"
	alphaPath    = "/apis/" + ballastGroup + "/" + alphaVersion
)

// fleet is a control plane whose members tell of each other's resources as they
// should.
type fleet struct{ *harbour }

// peersStory is a run in which two of three members are upgraded, so that only the
// third one hosts the oldest version, and the third one leaves.
func peersStory() []history.Event {
	f := &fleet{&harbour{plane: newPlane(), sweeps: map[string]int64{}, ids: map[string]int{}}}
	cp1, cp2, cp3 := f.members[0], f.members[1], f.members[2]
	for _, m := range f.members {
		f.arrives(m, m.release)
	}
	for _, m := range []*member{cp1, cp2} {
		f.ends(m)
		f.arrives(m, "1.3")
	}
	f.polls()
	f.pass(32_000)
	f.polls()
	for _, m := range f.members {
		f.sweep(m)
	}
	f.polls()
	f.ends(cp3)
	f.leaves(cp3.id())
	cp3.gone = true
	f.polls()
	f.pass(36_000)
	f.polls()
	f.emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return f.events
}

// arrives has a member start, join and be ready, and be looked at.
func (f *fleet) arrives(m *member, release string) {
	f.start(m, release)
	f.renew(m)
	f.pass(1000)
	from := f.now
	f.pass(3)
	f.emit(history.Event{Kind: history.KindReady, Member: m.name, From: from, Ready: &history.Ready{Code: 200, Revision: f.revision}})
	f.sweep(m)
}

// ends has the process of a member end in good order.
func (f *fleet) ends(m *member) {
	f.emit(history.Event{Kind: history.KindProcess, Member: m.name, Process: &history.Process{
		Component: history.ComponentAPIServer, Change: history.ProcessExited, Instance: m.instance, Release: m.release, Exit: "exit status 0", Expected: true,
	}})
}

// polls has every member looked at that is there.
func (f *fleet) polls() {
	f.pass(800)
	for _, m := range f.members {
		if !m.gone {
			f.ask(m, history.Document{Path: "/apis", Accept: v2JSON})
		}
	}
}

func (f *fleet) sweep(m *member) {
	f.sweeps[m.name]++
	ask := func(d history.Document) {
		d.Sweep = f.sweeps[m.name]
		f.ask(m, d)
	}
	ask(history.Document{Path: "/apis", Accept: v2JSON})
	ask(history.Document{Path: "/apis", Accept: localJSON})
	ask(history.Document{Path: "/apis"})
	own := f.hosts(m)
	for _, v := range own {
		ask(history.Document{Path: "/apis/" + v.group + "/" + v.version, Accept: plainJSON})
	}
	for _, v := range f.all() {
		if !slices.Contains(own, v) {
			from := f.now
			f.pass(4)
			f.emit(history.Event{Kind: history.KindDocument, Member: m.name, From: from, Document: &history.Document{
				Path: "/apis/" + v.group + "/" + v.version + "/" + v.resource, Accept: plainJSON, Sweep: f.sweeps[m.name],
				Code: 200, ContentType: plainJSON, Size: 300,
			}})
		}
	}
	ask(history.Document{Path: "/apis", Accept: v2JSON, Last: true})
}

// ask has a member tell of all, where that is what it is asked for, and of itself
// else.
func (f *fleet) ask(m *member, d history.Document) {
	f.own = f.hosts(m)
	if d.Accept == v2JSON {
		f.own = f.all()
	}
	f.answer(m, d)
}

// hosts is what a member hosts itself.
func (f *fleet) hosts(m *member) []hostedVersion {
	own := []hostedVersion{{group: "coordination.k8s.io", version: "v1", resource: "leases"}}
	for _, served := range releases[m.release].served {
		own = append(own, hostedVersion{group: ballastGroup, version: strings.TrimPrefix(served, ballastGroup+"/"), resource: "ballasts"})
	}
	return own
}

// all is what the members host that are there.
func (f *fleet) all() []hostedVersion {
	var all []hostedVersion
	for _, m := range f.members {
		if m.gone || m.instance == 0 {
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
var peersCases = []testCase{
	{
		id: "AD-23", reads: peersRead,
		fails: "cp1 does not list " + ballastGroup + "/" + alphaVersion,
		fail: func(e *edit) {
			// One member does not know of the last one's version, which clients of it
			// can use all the same.
			e.each(both(swept(v2JSON), of("cp1"), looked(3)), func(ev *history.Event) { e.rewrite(ev, withoutAlpha) })
		},
		why:  "saw 0 requests for them that were handed on and succeeded, at the member with the fewest, and needs at least 1",
		weak: func(e *edit) { e.drop(both(of("cp2"), at(alphaPath+"/ballasts"))) },
	},
	{
		id: "AD-24", reads: peersRead,
		fails: "cp2 lists " + ballastGroup + "/" + alphaVersion,
		fail: func(e *edit) {
			ev := &e.events[e.last(both(polls, of("cp2")))]
			e.rewrite(ev, withAlpha)
		},
		why:  "saw 0 things that a departed member alone had hosted, and that went from the documents of the remaining member with the fewest, and needs at least 1",
		weak: func(e *edit) { e.dropAt(e.last(both(polls, of("cp1")))) },
	},
}

// peersRead is what the checks of peers read.
var peersRead = either(instances, documents, joins, deletions)

// looked fits the answers of a thorough look at a member.
func looked(number int64) keep {
	return func(ev *history.Event) bool { return documents(ev) && ev.Document.Sweep == number }
}

func withoutAlpha(l *history.Listing) {
	for i := range l.Groups {
		l.Groups[i].Versions = slices.DeleteFunc(l.Groups[i].Versions, func(v history.ListedVersion) bool { return v.Version == alphaVersion })
	}
}

func withAlpha(l *history.Listing) {
	at := slices.IndexFunc(l.Groups, func(g history.ListedGroup) bool { return g.Name == ballastGroup })
	l.Groups[at].Versions = append(l.Groups[at].Versions, listedVersion(hostedVersion{group: ballastGroup, version: alphaVersion, resource: "ballasts"}, true))
}
