package storageversion

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// sv09: updates use the revision that was read, so that servers which start together lose
// no entry (KEP-2339, updating StorageVersion). A server's own update changes its own entry
// and no other one. A lost update shows as a write that brings the entry of one server and
// drops that of another which takes part, or puts an older one in its place.
var sv09 = law.Each[*facts, report]{
	Row:  law.Row{ID: "SV-09", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "concurrent", Tag: "concurrent"}}},
	Over: (*facts).reports,
	End: func(r report, _ law.Bounds) law.Entry {
		// The writer may take out who does not take part, but it read the object before the
		// participants: a server that joined by the revision that it read was among those.
		lost := slices.IndexFunc(r.before.Is.Entries, func(old history.Entry) bool {
			return fact.EntryIn(r.Is.Entries, old.ServerID) == nil && r.f.Participation(old.ServerID).Through(r.before.Revision, r.Revision)
		})
		switch e := r.Entry(); {
		case len(r.writers) > 1:
			return e.Broken("revision %d of %s changed the entries of %s at once, of which at most one is the writer's own", r.Revision, r.of.Name, strings.Join(r.writers, " and "))
		case lost >= 0:
			return e.Broken("revision %d of %s brought the entry of %s and lost that of %s, which takes part", r.Revision, r.of.Name, r.writers[0], r.before.Is.Entries[lost].ServerID)
		case r.reverts() != nil:
			x := r.reverts()
			if x.raced(requirement.MustBound("SV-19", "underWay")) == fact.Yes {
				return law.Entry{} // SV-19's
			}
			return e.Broken("revision %d of %s put the entry of %s back to what it was before its process started", r.Revision, r.of.Name, x.id).Shown(x.came.Seq, r.Seq)
		default:
			return e.Met(tagIf(r.together, "concurrent")...)
		}
	},
}

// report is a revision by which a server brought or changed its entry.
type report struct {
	revision
	writers []string
	s       *server
	// together is whether the writer had started before another one wrote that was starting
	// too, so that it could have read the object without that entry. How long it took on a
	// busy machine does not matter.
	together bool
}

// reports leave out the writes of a collector, those of what is agreed alone, and those of
// the harness.
func (f *facts) reports() (out []report) {
	for _, r := range f.revisions() {
		now := report{revision: r, writers: r.changed()}
		if len(now.writers) == 0 || f.byHarness(r.of.Name, r.Stamp) {
			continue
		}
		now.s = f.serverOf(f.MemberOfServer(now.writers[0]), r.Revision)
		for i := len(out) - 1; i >= 0 && now.s != nil && out[i].of == r.of && out[i].Made == r.Made && out[i].Revision > now.s.since; i-- {
			other := out[i]
			now.together = now.together || other.s != nil && other.s.Member != now.s.Member && !other.s.readyBy(other.At) && now.s.Started.Latest < other.At
		}
		out = append(out, now)
	}
	return out
}

// reverts is the entry that the revision took away by what was there before the process of the
// server started; nil if it is none. A process says one thing of a built-in resource for as long
// as it lives, so that another client has written what it had read before.
func (r report) reverts() *loss {
	s := r.f.servers().at(r.f, r.f.MemberOfServer(r.writers[0]), r.Stamp)
	of := r.of.Entry(r.writers[0])
	own, now := of.At(r.before.Revision), of.At(r.Revision)
	if s == nil || own == nil || r.f.byHarness(r.of.Name, own.Stamp) || !r.f.anyLook(func(look *fact.Look) bool { return look.Hosts(r.of.Name) }) {
		return nil
	}
	old := of.At(own.Revision - 1)
	if old == nil || fact.SameEntry(*own.Is, *old.Is) || !fact.SameEntry(*now.Is, *old.Is) ||
		r.f.When(old.Stamp).Before(s.Started) != fact.Yes || s.Started.Before(r.f.When(own.Stamp)) != fact.Yes {
		return nil
	}
	return &loss{r.revision, s.id, own.Stamp, false}
}
