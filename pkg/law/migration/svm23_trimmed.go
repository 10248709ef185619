package migration

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm23: the storedVersions of a custom resource's definition name all versions that are
// stored in etcd, and lose one only by a migration that succeeds and that began with the
// definition as it is (KEP-4192, "Storage version of custom resources").
var svm23 = together{
	Row:   law.Row{ID: "SVM-23", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("trimmed", "compared")},
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
				l.Add(c.Entry().Shown(c.Seq, d.Seq).Broken("%s is stored as %s since revision %d, and storedVersions of its definition is %v at revision %d",
					c, stored, c.Revision, d.Is.Stored, max(d.Revision, c.Revision)))
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

// isDue judges a trim by the migrations that had begun with the definition as it is. One that had begun
// before the recorder looked first may have, unless the definition was another one then.
func (t trim) isDue(bounds law.Bounds) law.Entry {
	e := law.Of(t.of.String(), t.When(t.now.Stamp))
	due := fact.Where(t.begunOf(t.of), func(m *Migration) bool {
		return m.Started.Revision < t.now.Revision && !m.Found && m.beganWith(t.now)
	})
	goesOn := fact.Where(due, func(m *Migration) bool { return m.goesOn() })
	found := fact.Where(t.Migrations, func(m *Migration) bool {
		return m.Of == t.of && m.Found && m.Outcome != history.MigrationFailed && sameSpecification(t.definition(t.of).All()[0], t.now)
	})
	succeeded := fact.Where(due, (*Migration).Succeeded)
	why := "no migration had begun with the definition as it is"
	switch {
	case slices.ContainsFunc(succeeded, func(m *Migration) bool { return t.justBefore(m, bounds) }):
		return e.Met("trimmed")
	case len(found) > 0:
		return e.Unclear("storedVersions of %s lost %v, and it is not known with which definition migration %s had begun", t.of, t.gone, found[0].Name)
	case len(goesOn) > 0:
		m := goesOn[0]
		if least, _ := m.When(m.lastProgress(fact.Forever)).Until(t.Over()); least <= bounds.Of("succeedsAfter") {
			return e.Open("migration %s trimmed storedVersions at the end of the history, and it is not known whether it succeeded", m.Name)
		}
		why = "migration " + m.Name + " has not succeeded since"
	case len(succeeded) > 0:
		why = "migration " + succeeded[0].Name + " succeeded only long after that"
	case len(due) > 0:
		why = "migration " + due[0].Name + " did not succeed"
	}
	return e.Broken("storedVersions of %s lost %v at revision %d, and %s", t.of, t.gone, t.now.Revision, why)
}

// justBefore is whether the trim came after a success, or before it while it was to be written.
// Another controller may have to come past all objects again before it writes it.
func (t trim) justBefore(m *Migration, bounds law.Bounds) bool {
	least, _ := lasted(m.clock(), t.When(t.now.Stamp), m.When(m.Ended))
	return m.Ended.Revision < t.now.Revision || least <= bounds.Of("succeedsAfter")+m.passesDone(t.now.Stamp, m.end())
}

// beganWith is whether a migration began with a revision of its definition: with one that
// was neither changed nor created again since.
func (m *Migration) beganWith(now Definition) bool {
	if !now.There || !was(m.Started) {
		return false
	}
	d := m.definition(m.Of).At(m.Started.Revision)
	return d != nil && sameSpecification(*d, now)
}

// sameSpecification is whether two revisions are of one definition that was not changed in between.
func sameSpecification(a, b Definition) bool {
	return a.Made == b.Made && a.Is.Generation == b.Is.Generation
}
