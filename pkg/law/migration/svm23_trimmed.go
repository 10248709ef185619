package migration

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm23: the storedVersions of a custom resource's definition name all versions that are
// stored in etcd, and lose one only by a migration that succeeds and that began with the
// definition as it is (KEP-4192, "Storage version of custom resources").
var svm23 = together{
	Row:   law.Row{ID: "SVM-23", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "trimmed", Tag: "trimmed"}, {Name: "compared", Tag: "compared"}}},
	Parts: parts{written{Judge: namesAllStored}, each[trim]{Over: trims, End: trim.isDue}},
}

// namesAllStored compares each change of an object with the definition of that time, and all
// objects with each revision of the definition.
func namesAllStored(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, r := range f.resources() {
		p, compared := f.population(r), int64(0)
		compare := func(d *Definition, c *Change) {
			compared++
			if stored := c.Version()[strings.LastIndex(c.Version(), "/")+1:]; !slices.Contains(d.Is.Stored, stored) {
				l.Add(law.Of(c.Object.Name, f.when(c)).Shown(c.Seq, d.Seq).Broken("%s %s is stored as %s since revision %d, and storedVersions of its definition is %v at revision %d",
					r.Name, c.Object.Name, stored, c.Revision, d.Is.Stored, max(d.Revision, c.Revision)))
			}
		}
		definition := f.definition(r)
		for i := range p.changes {
			if c := &p.changes[i]; !c.Gone {
				if d := definition.At(c.Revision); d != nil {
					compare(d, c)
				}
			}
		}
		for _, d := range definition.All() {
			if d.There {
				for _, c := range p.at(d.Revision) {
					compare(&d, c)
				}
			}
		}
		l.Add(tally(law.Of(r.String(), f.Over()), compared, "compared"))
	}
}

// trim is a change of a definition by which storedVersions loses versions.
type trim struct {
	*Facts
	of   Resource
	now  Definition
	gone []string
}

func trims(f *Facts) []trim {
	var out []trim
	for _, r := range f.resources() {
		all := f.definition(r).All()
		for i := 1; i < len(all); i++ {
			if all[i-1].There && all[i].There {
				gone := fact.Where(all[i-1].Is.Stored, func(v string) bool { return !slices.Contains(all[i].Is.Stored, v) })
				out = append(out, trim{f, r, all[i], gone})
			}
		}
	}
	return fact.Where(out, func(t trim) bool { return len(t.gone) > 0 })
}

func (t trim) isDue(bounds law.Bounds) law.Entry {
	e, m := law.Of(t.of.String(), t.When(t.now.Stamp)), t.by()
	lost := func(why string) law.Entry {
		return e.Broken("storedVersions of %s lost %v at revision %d, and %s", t.of, t.gone, t.now.Revision, why)
	}
	switch {
	case m == nil:
		return lost("nothing migrates it")
	case m.Found && !m.Failed():
		return e.Unclear("storedVersions of %s lost %v, and it is not known with which definition migration %s had begun", t.of, t.gone, m.Name)
	case !m.beganWith(t.now):
		return lost("the definition is not the one that migration " + m.Name + " began with")
	case m.Succeeded():
		return e.Met("trimmed")
	case was(m.end()):
		return lost("migration " + m.Name + " did not succeed")
	}
	if least, _ := m.When(m.lastProgress()).Until(t.Over()); least > bounds.Of("succeedsAfter") {
		return lost("migration " + m.Name + " has not succeeded since")
	}
	return e.Open("migration %s trimmed storedVersions at the end of the history, and it is not known whether it succeeded", m.Name)
}

// by is the migration that trimmed the definition: one that had succeeded with it as it is,
// else one that ran, else the last one that had ended.
func (t trim) by() *Migration {
	var found *Migration
	best := 0
	for _, m := range t.Migrations {
		rank := 0
		switch {
		case m.Of != t.of:
		case m.endRevision() < t.now.Revision && m.Succeeded() && m.beganWith(t.now):
			rank = 3
		case m.ran(t.now.Revision):
			rank = 2
		case m.endRevision() < t.now.Revision:
			rank = 1
		}
		if rank > 0 && rank >= best {
			found, best = m, rank
		}
	}
	return found
}

// beganWith is whether a migration began with a revision of its definition: with one that
// was neither changed nor created again since.
func (m *Migration) beganWith(now Definition) bool {
	if !now.There || !was(m.Started) {
		return false
	}
	d := m.definition(m.Of).At(m.Started.Revision)
	return d != nil && d.Made == now.Made && d.Is.Generation == now.Is.Generation
}
