package migration

import (
	"cmp"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm07: an update by a user is not undone by a migration that had read the object before
// (KEP-25, "Migrator": it writes with the resource version that it read). Each write of the
// harness leaves its tag in the object, so that an earlier tag that comes back is a later
// write that was lost.
var svm07 = written{
	Row: law.Row{ID: "SVM-07", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{{Name: "updates"}, {Name: "ahead", Tag: "ahead"}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		f.unshown(l)
		for _, r := range f.resources() {
			begun := f.firstBegun(r)
			latest := map[*Object]writeID{}
			f.touches(r, func(t *Touch) {
				last := latest[t.Object]
				if t.tagged() {
					latest[t.Object] = t.By
				}
				// A write that is on its way when the migration ends may come after it.
				switch {
				case t.Gone || t.New || !t.tagged() || begun == nil || begun.Started.Revision > t.Revision:
				case t.Again:
					l.Broken(t.Object.Name, f.when(t.Change), law.Evidence(t.Before.Seq, t.Seq), "%s %s had write %d of %s at revision %d, and at revision %d write %d of %s is back; migration %s had begun",
						r.Name, t.Object.Name, last.number, last.member, t.Before.Revision, t.Revision, t.By.number, t.By.member, begun.Name)
				case t.During != nil:
					l.MetBy(t.By.member, t.Object.Name, f.when(t.Change), t.side()...)
				}
			})
		}
	},
}

// side tells whether an update is of an object that the migration had not come to: what a
// server writes back in the old version it had.
func (t *Touch) side() []string {
	target := cmp.Or(t.During.target().Version, t.During.facts.agreement(t.Object.in.of, t.Revision).Version)
	if t.converts() && t.Before.Version() != target {
		return []string{"ahead"}
	}
	return nil
}

// firstBegun is the migration of a resource that began first; nil if none has.
func (f *Facts) firstBegun(r Resource) *Migration {
	var first *Migration
	for _, m := range f.Migrations {
		if m.Of == r && was(m.Started) && (first == nil || m.Started.Revision < first.Started.Revision) {
			first = m
		}
	}
	return first
}
