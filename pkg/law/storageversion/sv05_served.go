package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
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
	Row: law.Row{ID: "SV-05", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{
		{Name: "compared", Tag: "compared"}, {Name: "comparedEach", Tag: "compared", Each: true},
	}},
	Parts: []law.Law[*facts]{hostingKnown, sv05Decodable, sv05Hosted, sv05Claimed},
}

var sv05Decodable = law.Each[*facts, written]{Over: (*facts).entries, End: func(w written, _ law.Bounds) law.Entry {
	i := slices.IndexFunc(w.entry.Served, func(v string) bool { return !slices.Contains(w.entry.Decodable, v) })
	if i < 0 {
		return law.Entry{}
	}
	return w.Entry().Alone().Broken("in %s, %s serves %s and decodes only %v", w.of.Name, w.entry.ServerID, w.entry.Served[i], w.entry.Decodable)
}}

// looked are the looks at processes that had been ready before.
func (f *facts) looked() (out []duty) {
	for _, s := range f.servers().all {
		for _, look := range s.looks {
			if s.ready != nil && s.ready.Seq < look.Seq {
				out = append(out, duty{s: s, look: look, at: f.When(look.Stamp), revision: look.EtcdRevision})
			}
		}
	}
	return out
}

// sv05Hosted: what the entry of a resource that the server hosts calls served is what its
// discovery has. That an entry is missing SV-01 and SV-03 judge.
var sv05Hosted = law.Each[*facts, duty]{
	Over: func(f *facts) (out []duty) {
		for _, d := range f.looked() {
			out = append(out, d.s.duties(d.look, d.at, d.revision)...)
		}
		return fact.Where(out, duty.reported)
	},
	End: func(d duty, _ law.Bounds) law.Entry {
		own := d.s.own(d.resource)
		switch e := d.Entry(); {
		case e.Ending != "":
			return e
		case d.s.silent() && d.change.Revision <= d.s.since:
			return e.Excused("the server has no StorageVersion API, and the entry is of the process before")
		case fact.SameSet(d.change.Is.Served, slices.Concat(d.resource.Served, own)):
			return e.Met("compared")
		default:
			beside := ""
			if len(own) > 0 {
				beside = sprintf(" and, unlisted, has %v", own)
			}
			return e.Broken("in %s, %s calls %v served, but its discovery lists %v%s", d.name, d.s.id, d.change.Is.Served, d.resource.Served, beside).
				Shown(d.evidence(d.change.Seq)...)
		}
	},
}

// sv05Claimed: a server has no entry in the StorageVersion of a built-in resource that its
// discovery does not list.
var sv05Claimed = law.Each[*facts, duty]{
	Over: func(f *facts) (out []duty) {
		builtIn := fact.Where(f.StorageVersions(), func(v *fact.StorageVersion) bool {
			return f.anyLook(func(look *fact.Look) bool { return look.Hosts(v.Name) })
		})
		for _, d := range f.looked() {
			for _, v := range builtIn {
				if d.name, d.change = v.Name, v.Entry(d.s.id).At(d.revision); d.change != nil && !d.look.Lists(v.Name) {
					out = append(out, d)
				}
			}
		}
		return out
	},
	End: func(d duty, _ law.Bounds) law.Entry {
		switch e := d.Entry(); {
		case e.Ending != "":
			return e
		case d.s.silent():
			return e.Excused("the server has no StorageVersion API, and the entry is of the process before")
		case d.s.f.byHarness(d.name, d.change.Stamp):
			return e.Excused("the harness made the entry")
		default:
			return e.Broken("in %s, %s calls %v served, but its discovery does not list the resource", d.name, d.s.id, d.change.Is.Served).Shown(d.evidence(d.change.Seq)...)
		}
	},
}
