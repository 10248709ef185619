package storageversion

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv02: a StorageVersion is named <group>.<resource>, the core group being spelled out as a
// fixed word (KEP-2339, resource version API). Every name in etcd must be that of a
// resource which some member hosts or has hosted; judged at the end of holds, when
// discovery of every member has just been read. A custom resource is announced before it
// is served, so that its definition is enough. An object that the harness has created, for
// the API servers that it simulates, is not the control plane's.
var sv02 = law.Written[*facts]{
	Row: law.Row{ID: "SV-02", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{
		{Name: "core", Tag: "core"}, {Name: "named", Tag: "named"},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtHosting(l, bounds)
		for _, hold := range f.Holds {
			if hold.Ended == nil {
				continue
			}
			if looked, known := f.lookedBy(hold); known {
				f.judgeNames(l, hold, looked)
			}
		}
	},
}

// lookedBy is the revision of the last look at what members host, and whether the
// processes of all of them had been looked at when a hold ended.
func (f *facts) lookedBy(hold *fact.Hold) (revision int64, known bool) {
	for member := range hold.Releases {
		s := f.lastServer(member, hold.Ended.Latest)
		if !s.knownBy(hold.Ended.Latest) {
			return 0, false
		}
		revision = max(revision, s.lookBy(hold.Ended.Latest).EtcdRevision)
	}
	return revision, true
}

func (f *facts) judgeNames(l *law.Ledger, hold *fact.Hold, looked int64) {
	for _, v := range f.StorageVersions() {
		at := v.At(hold.EndedRevision)
		if at == nil {
			continue
		}
		made := f.harness.made(v.Name, at.Made, f.When(v.At(at.Made).Stamp))
		switch {
		case f.listed(v.Name, hold.Ended.Seq):
			tag := "named"
			if strings.HasPrefix(v.Name, "core.") {
				tag = "core"
			}
			l.Met(v.Name, *hold.Ended, tag)
		case at.Made > looked:
			l.Excused(v.Name, *hold.Ended, "it was made after members were asked what they host")
		case made == fact.Yes:
			l.Excused(v.Name, *hold.Ended, "the harness created it")
		case made == fact.Unknown:
			l.Unclear(v.Name, *hold.Ended, "the harness asked for it to be created, and learnt of no outcome")
		default:
			l.Broken(v.Name, *hold.Ended, law.Evidence(at.Seq, hold.Ended.Seq), "StorageVersion %q is not the <group>.<resource> of anything that discovery lists", v.Name)
		}
	}
}

// listed is whether a name is that of a resource which was hosted or defined before an
// event.
func (f *facts) listed(name string, seq int64) bool {
	if slices.ContainsFunc(f.definitions[name], func(s fact.Stamp) bool { return s.Seq < seq }) {
		return true
	}
	return slices.ContainsFunc(f.Members(), func(member string) bool {
		return slices.ContainsFunc(f.Looks(member), func(look *fact.Look) bool { return look.Seq < seq && look.Lists(name) })
	})
}
