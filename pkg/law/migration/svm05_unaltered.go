package migration

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm05: a migration leaves labels, annotations, owners, finalizers, generation, uid,
// managed fields and contents of what it rewrites as they are (KEP-25, "Migrator": it
// writes back what it read).
var svm05 = written{
	Row: law.Row{ID: "SVM-05", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "same", Tag: "same"}, {Name: "contents", Tag: "contents"}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		same, contents := map[*Migration]int64{}, map[string]int64{}
		for t := range f.allTouches() {
			if t.learned {
				contents[fmt.Sprintf("%s from %s to %s", t.Object.in.of, t.Before.Version(), t.Version())]++
			}
			if m := f.writer(t); m != nil && !f.alters(l, t, m) && t.During != nil {
				same[m]++
			}
		}
		for _, m := range f.Migrations {
			l.Add(tally(m.Entry(), same[m], "same"))
		}
		// Those of one resource count, between the two versions with the most.
		about := law.SortedKeys(contents)
		if len(about) > 0 {
			most := slices.MaxFunc(about, func(a, b string) int { return int(contents[a] - contents[b]) })
			l.Add(tally(law.Of(most, f.Over()), contents[most], "contents"))
		}
	},
}

// alters enters a write of a migration after which an object is not as it was.
func (f *Facts) alters(l *law.Ledger, t *Touch, m *Migration) bool {
	what := f.altered(t)
	if what != "" {
		l.Add(law.Of(t.Object.Name, f.when(t.Change)).Shown(t.Before.Seq, t.Seq).Broken("%s %s was written at revision %d %s, and its %s not what it was at revision %d",
			t.Object.in.of.Name, t.Object.Name, t.Revision, m.phase(t.Revision), what, t.Before.Revision))
	}
	return what != ""
}

// writer is the migration that made a change, as far as can be told; nil if it was none.
// Other clients write too, and not all of them leave a tag: a migration made a write that
// changed the version, one to an object that had been left alone since before it began, and
// one to an object of the harness that it had rewritten.
func (f *Facts) writer(t *Touch) *Migration {
	switch m := t.During; {
	case !t.untagged() || t.Before.Metadata == 0:
		return nil
	case m != nil && !t.converts() && t.Before.Revision > m.Started.Revision && !t.again() && t.content == "":
		return nil // a controller of the resource may have written
	case m != nil:
		return m
	case !t.converts():
		return nil
	}
	if m := f.justEnded(t); m != nil {
		return m
	}
	if i := slices.IndexFunc(f.Migrations, func(m *Migration) bool { return m.Of == t.Object.in.of && m.waited(t.Revision) }); i >= 0 {
		return f.Migrations[i]
	}
	return nil
}

// justEnded is the migration of the resource that ended last before a change, if what was
// on its way then may land as late.
func (f *Facts) justEnded(t *Touch) *Migration {
	ended := fact.Where(f.begunOf(t.Object.in.of), func(m *Migration) bool { return m.endRevision() < t.Revision })
	if n := len(ended); n > 0 {
		if least, _ := f.When(ended[n-1].end()).Until(f.when(t.Change)); least <= restLands() {
			return ended[n-1]
		}
	}
	return nil
}

// phase says when in the life of a migration a revision was made.
func (m *Migration) phase(revision int64) string {
	switch {
	case m.ran(revision):
		return "while migration " + m.Name + " ran"
	case m.endRevision() < revision:
		return "after migration " + m.Name + " had ended"
	}
	return "before migration " + m.Name + " said that it ran"
}
