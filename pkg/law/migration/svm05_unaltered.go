package migration

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm05: a migration leaves labels, annotations, owners, finalizers, generation, uid,
// managed fields and contents of what it rewrites as they are (KEP-25, "Migrator": it
// writes back what it read). Other clients write too, and not all of them leave a tag: what
// is judged is a write that changed the version, one to an object that had been left alone
// since before the migration began, and one to an object of the harness that the
// migration had rewritten.
var svm05 = written{
	Row: law.Row{ID: "SVM-05", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "same", Tag: "same"}, {Name: "contents", Tag: "contents"}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, r := range f.resources() {
			same := map[*Migration]int64{}
			f.touches(r, func(t *Touch) {
				m, when := f.writerOf(t)
				if m == nil {
					return
				}
				if !f.alters(l, t, when) && t.During != nil {
					same[m]++
				}
			})
			for _, m := range f.Migrations {
				if same[m] > 0 {
					l.Add(law.Entry{Ending: law.Met, About: m.Name, Began: f.When(m.Started), Tags: []string{"same"}, Times: same[m]})
				}
			}
		}
		f.mostContents(l)
	},
}

// alters enters a write after which an object is not as it was.
func (f *Facts) alters(l *law.Ledger, t *Touch, when string) bool {
	what := f.altered(t)
	if what != "" {
		l.Broken(t.Object.Name, f.when(t.Change), law.Evidence(t.Before.Seq, t.Seq), "%s %s was written at revision %d %s, and its %s not what it was at revision %d",
			t.Object.in.of.Name, t.Object.Name, t.Revision, when, what, t.Before.Revision)
	}
	return what != ""
}

// mostContents enters the contents that migrations told from each other, of the resource
// with the most.
func (f *Facts) mostContents(l *law.Ledger) {
	most, about := int64(0), Resource{}
	for _, r := range f.resources() {
		if told := f.told(r); told > most {
			most, about = told, r
		}
	}
	if most > 0 {
		l.Add(law.Entry{Ending: law.Met, About: about.String(), Began: f.Over(), Tags: []string{"contents"}, Times: most})
	}
}

// writerOf is the migration that made a change, as far as can be told, and says when that
// was; nil if it was none.
func (f *Facts) writerOf(t *Touch) (m *Migration, when string) {
	if !t.untagged() || t.Before.Metadata == 0 {
		return nil, ""
	}
	if m := t.During; m != nil {
		if t.Before.version == t.Change.version && t.Before.Revision > m.Started.Revision && !t.again() && t.content == "" {
			return nil, "" // a controller of the resource may have written
		}
		return m, fmt.Sprintf("while migration %s ran", m.Name)
	}
	if !t.converts() {
		return nil, ""
	}
	if m := f.justEnded(t); m != nil {
		return m, fmt.Sprintf("after migration %s had ended", m.Name)
	}
	for _, m := range f.Migrations {
		if m.Of == t.Object.in.of && !was(m.Started) && m.lived(t.Revision) || was(m.Started) && m.Of == t.Object.in.of && m.Created.Revision < t.Revision && t.Revision < m.Started.Revision {
			return m, fmt.Sprintf("before migration %s said that it ran", m.Name)
		}
	}
	return nil, ""
}

// justEnded is the migration of the resource that ended last before a change, if what was
// on its way then may land as late.
func (f *Facts) justEnded(t *Touch) *Migration {
	for i := len(f.Migrations) - 1; i >= 0; i-- {
		m := f.Migrations[i]
		if m.Of == t.Object.in.of && was(m.Started) && was(m.end()) && m.end().Revision < t.Revision {
			if least, _ := f.When(m.end()).Until(f.when(t.Change)); least <= restLands() {
				return m
			}
			return nil
		}
	}
	return nil
}
