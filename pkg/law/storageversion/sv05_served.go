package storageversion

import (
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
var sv05 = law.Together[*facts]{
	Row: law.Row{ID: "SV-05", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{
		{Name: "compared", Tag: "compared"}, {Name: "comparedEach", Tag: "compared", Each: true},
	}},
	Parts: []law.Law[*facts]{hostingKnown, sv05Decodable, sv05Hosted},
}

var sv05Decodable = law.Each[*facts, written]{Over: (*facts).entries, End: func(w written, _ law.Bounds) law.Entry {
	i := slices.IndexFunc(w.entry.Served, func(v string) bool { return !slices.Contains(w.entry.Decodable, v) })
	if i < 0 {
		return law.Entry{}
	}
	return w.Entry().Alone().Broken("in %s, %s serves %s and decodes only %v", w.of.Name, w.entry.ServerID, w.entry.Served[i], w.entry.Decodable)
}}

// sv05Hosted: what an entry calls served is what the discovery of its server has, which was
// ready before it was asked. That an entry is missing SV-01 and SV-03 judge.
var sv05Hosted = law.Each[*facts, duty]{
	Over: func(f *facts) (out []duty) {
		for _, s := range f.servers().all {
			for _, look := range s.looks {
				if s.ready != nil && s.ready.Seq < look.Seq {
					out = append(out, s.duties(look, f.When(look.Stamp), look.EtcdRevision)...)
					out = append(out, s.claims(look)...)
				}
			}
		}
		return fact.Where(out, duty.reported)
	},
	End: func(d duty, _ law.Bounds) law.Entry {
		own, beside, listed := d.s.own(d.resource), "", sprintf("lists %v", d.resource.Served)
		if len(own) > 0 {
			beside = sprintf(" and, unlisted, has %v", own)
		}
		if d.resource.Resource == "" {
			listed = "does not list the resource"
		}
		switch e := d.Entry(); {
		case e.Ending != "":
			return e
		case d.s.silent() && d.change.Revision <= d.s.since:
			return e.Excused("the server has no StorageVersion API, and the entry is of the process before")
		case d.resource.Resource == "" && d.s.f.byHarness(d.name, d.change.Stamp):
			return e.Excused("the harness made the entry")
		case d.resource.Resource != "" && fact.SameSet(d.change.Is.Served, slices.Concat(d.resource.Served, own)):
			return e.Met("compared")
		default:
			return e.Broken("in %s, %s calls %v served, but its discovery %s%s", d.name, d.s.id, d.change.Is.Served, listed, beside).Shown(d.evidence(d.change.Seq)...)
		}
	},
}

// claims are duties without a resource: the built-in ones by other looks that this one does
// not list.
func (s *server) claims(look *fact.Look) (out []duty) {
	for _, v := range s.f.StorageVersions() {
		change := v.Entry(s.id).At(look.EtcdRevision)
		if change != nil && !look.Lists(v.Name) && s.f.anyLook(func(other *fact.Look) bool { return other.Hosts(v.Name) }) {
			out = append(out, duty{s: s, look: look, name: v.Name, at: s.f.When(look.Stamp), revision: look.EtcdRevision, change: change})
		}
	}
	return out
}
