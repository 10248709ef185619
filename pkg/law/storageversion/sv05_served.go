package storageversion

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv05: the versions that an entry calls served can be decoded, in any revision, and are
// those of this server's discovery.
//
// That is what the server answers for each version, /apis/<group>/<version>, and not only
// what it lists for the group. The list of a group is made from the APIServices, which all
// servers share: a member of a release without a version takes that out of the lists of all
// others, which go on serving it. A version that is listed has to be claimed in any case,
// and one that is claimed has to be answered, by the server itself and not by a peer.
var sv05 = law.Written[*facts]{
	Row: law.Row{ID: "SV-05", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{
		{Name: "compared", Tag: "compared"}, {Name: "comparedEach", Tag: "compared", Each: true},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtHosting(l, bounds)
		for _, r := range f.revisions() {
			f.judgeServedDecodable(l, r)
		}
		for _, s := range f.allServers() {
			for _, look := range s.looks {
				at := f.When(look.Stamp)
				if s.ready != nil && s.ready.Seq < look.Seq && f.told(l, s.Member, at, look.EtcdRevision) {
					f.judgeLook(l, s, look, at)
				}
			}
		}
	},
}

func (f *facts) judgeServedDecodable(l *law.Ledger, r revision) {
	for _, e := range r.Content.Entries {
		for _, v := range e.Served {
			if !slices.Contains(e.Decodable, v) {
				selfEvident(l, r.version.Name, f.When(r.Stamp), "in %s, %s serves %s and decodes only %v", r.version.Name, e.ServerID, v, e.Decodable)
			}
		}
	}
}

// judgeLook compares what a ready process says that it hosts with all entries of its
// server.
func (f *facts) judgeLook(l *law.Ledger, s *server, look *fact.Look, at fact.Moment) {
	for _, r := range look.Resources {
		if fact.BuiltIn(r) {
			f.judgeServed(l, s, look, at, r)
		}
	}
	for _, v := range f.StorageVersions() {
		change := v.ChangeAt(s.id, look.EtcdRevision)
		switch {
		case change == nil || !change.Present() || look.Lists(v.Name) || !f.builtInName(v.Name):
		case s.silent():
			l.Excused(v.Name, at, "the server has no StorageVersion API, and the entry is of the process before")
		case f.harness.edited(v.Name, change.Stamp):
			l.Excused(v.Name, at, "the harness made the entry")
		default:
			l.Broken(v.Name, at, law.Evidence(change.Seq, look.Seq, f.ToldBy(look.EtcdRevision)), "in %s, %s calls %v served, but its discovery does not list the resource", v.Name, s.id, change.Entry.Served)
		}
	}
}

func (f *facts) judgeServed(l *law.Ledger, s *server, look *fact.Look, at fact.Moment, r history.HostedResource) {
	name := fact.Resource{Group: r.Group, Resource: r.Resource}.StorageVersionName()
	change, unlisted := f.StorageVersion(name).ChangeAt(s.id, look.EtcdRevision), f.own(s, r)
	switch {
	case change == nil || !change.Present():
		return // SV-01 and SV-03 judge what is missing
	case s.silent() && change.Revision <= s.since:
		l.Excused(name, at, "the server has no StorageVersion API, and the entry is of the process before")
	case fact.SameSet(change.Entry.Served, slices.Concat(r.Served, unlisted)):
		l.MetBy(s.Member, name, at, "compared")
	default:
		beside := ""
		if len(unlisted) > 0 {
			beside = fmt.Sprintf(" and, unlisted, has %v", unlisted)
		}
		l.Broken(name, at, law.Evidence(change.Seq, look.Seq, f.ToldBy(look.EtcdRevision)), "in %s, %s calls %v served, but its discovery lists %v%s", name, s.id, change.Entry.Served, r.Served, beside)
	}
}

// builtInName is whether a StorageVersion is of a resource that any server calls built in.
func (f *facts) builtInName(name string) bool {
	return slices.ContainsFunc(f.Members(), func(member string) bool {
		return slices.ContainsFunc(f.Looks(member), func(look *fact.Look) bool { return look.Hosts(name) })
	})
}
