package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv11: a server joins the list of participants before its first entry (KEP-2339, garbage
// collection): the identity Lease is there, and older, at every revision that brings an
// entry of a server, and at the first by which a restarted one changes what the process
// before it had left.
var sv11 = law.OnlyIf[*facts, arrival]{
	Row: law.Row{ID: "SV-11", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "entries", Tag: "entry"}, {Name: "entriesEach", Tag: "entry", Each: true},
	}},
	Events: func(f *facts) []arrival { return f.arrivals() },
	Describe: func(a arrival) law.Entry {
		return law.Entry{About: a.version.Name, Member: a.f.memberOf(a.server), Began: a.f.When(a.Stamp), Tags: a.tags}
	},
	If: func(a arrival) fact.Truth { return fact.Of(a.f.TakesPart(a.server, a.Revision)) },
	Excuse: func(a arrival) string {
		switch {
		case a.f.harness.edited(a.version.Name, a.Stamp):
			return "the harness wrote the entry"
		case a.f.memberOf(a.server) == "" && !a.f.TakesPart(a.server, a.Revision) && a.joinedLater() == nil:
			return "there is no such server"
		}
		return ""
	},
	Breach: func(a arrival) (string, []int64) {
		if later := a.joinedLater(); later != nil && a.f.memberOf(a.server) == "" {
			return sprintf("%s got its identity Lease at revision %d, and had an entry before", a.server, later.Revision), law.Evidence(a.Seq, later.Seq)
		}
		return sprintf("%s got an entry of %s at revision %d, when that server had no identity Lease", a.version.Name, a.server, a.Revision), []int64{a.Seq}
	},
}

// arrival is an entry that a server brought into an object, or changed first in the life
// of its process.
type arrival struct {
	revision
	f      *facts
	server string
	tags   []string
}

var entryTag = []string{"entry"}

func (f *facts) arrivals() []arrival {
	var out []arrival
	for _, r := range f.revisions() {
		for i := range r.Content.Entries {
			e := &r.Content.Entries[i]
			if fact.EntryIn(r.Content.Entries, e.ServerID) != e {
				continue
			}
			was := r.before != nil && fact.EntryIn(r.before.Content.Entries, e.ServerID) != nil
			switch {
			case !was:
				out = append(out, arrival{r, f, e.ServerID, entryTag})
			case slices.Contains(r.changed(), e.ServerID) && f.announces(e.ServerID, r):
				out = append(out, arrival{r, f, e.ServerID, nil})
			}
		}
	}
	return out
}

// announces is whether a revision is the first one by which the process of a server
// changed its entry.
func (f *facts) announces(id string, r revision) bool {
	s := f.serverOf(f.memberOf(id), r.Revision)
	if s == nil {
		return false
	}
	before := r.version.ChangeAt(id, r.Revision-1)
	return before != nil && before.Revision <= s.since
}

// joinedLater is when a server joined that had an entry before, and had it still; nil if
// it never did.
func (a arrival) joinedLater() *fact.Stamp {
	spans := a.f.Participation(a.server).Spans
	for i := range spans {
		joined := &spans[i].Joined
		if joined.Revision <= a.Revision {
			return nil // it had joined before, and came back
		}
		if c := a.version.ChangeAt(a.server, joined.Revision); c != nil && c.Present() {
			return joined
		}
	}
	return nil
}
