package storageversion

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv09: updates use the revision that was read, so that servers which start together lose
// no entry (KEP-2339, updating StorageVersion). A server's own update changes its own entry
// and no other one. A lost update shows as a write that brings the entry of one server and
// drops that of another which takes part, or puts an older one in its place.
var sv09 = law.Written[*facts]{
	Row: law.Row{ID: "SV-09", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "concurrent", Tag: "concurrent"}}},
	Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
		wrote := map[*fact.StorageVersion][]report{}
		for _, r := range f.revisions() {
			if r.before == nil {
				delete(wrote, r.version) // nothing was there that could have been lost
				continue
			}
			writers, at := r.changed(), f.When(r.Stamp)
			switch {
			case len(writers) == 0 || f.harness.edited(r.version.Name, r.Stamp):
				continue // a collector's write, one of what is agreed alone, or the harness's
			case len(writers) > 1:
				l.Broken(r.version.Name, at, []int64{r.Seq}, "revision %d of %s changed the entries of %s at once, of which at most one is the writer's own",
					r.Revision, r.version.Name, strings.Join(writers, " and "))
			default:
				var concurrent bool
				wrote[r.version], concurrent = f.together(wrote[r.version], r, writers[0])
				f.judgeLost(l, r, writers[0], concurrent)
			}
		}
	},
}

func (f *facts) judgeLost(l *law.Ledger, r revision, writer string, concurrent bool) {
	at, kept := f.When(r.Stamp), true
	for _, old := range r.before.Content.Entries {
		// The writer may take out who does not take part, but it read the object before the
		// participants: whoever joined by the revision that it read was among those.
		if fact.EntryIn(r.Content.Entries, old.ServerID) == nil && f.Participation(old.ServerID).Through(r.before.Revision, r.Revision) {
			kept = false
			l.Broken(r.version.Name, at, []int64{r.Seq}, "revision %d of %s brought the entry of %s and lost that of %s, which takes part", r.Revision, r.version.Name, writer, old.ServerID)
		}
	}
	switch {
	case kept && concurrent:
		l.Met(r.version.Name, at, "concurrent")
	case kept:
		l.Met(r.version.Name, at)
	}
}

// report is what a process wrote of its server in an object.
type report struct {
	by *server
	fact.Stamp
}

// together is whether the writer of a revision had started before another one wrote that
// was starting too, so that it could have read the object without that entry. How long it
// took on a busy machine does not matter.
func (f *facts) together(before []report, r revision, writer string) (after []report, concurrent bool) {
	s := f.serverOf(f.memberOf(writer), r.Revision)
	if s == nil {
		return before, false
	}
	for _, other := range before {
		if other.by.Member == s.Member {
			continue
		}
		starting := other.by.ready == nil || other.by.ready.Latest > other.At
		concurrent = concurrent || starting && s.since < other.Revision && s.Started.Latest < other.At
		after = append(after, other)
	}
	return append(after, report{s, r.Stamp}), concurrent
}
