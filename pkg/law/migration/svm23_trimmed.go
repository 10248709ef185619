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
var svm23 = written{
	Row: law.Row{ID: "SVM-23", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "trimmed", Tag: "trimmed"}, {Name: "compared", Tag: "compared"}}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		for _, r := range f.resources() {
			f.namesAllStored(l, r)
			all := f.definitions[r]
			for i := 1; i < len(all); i++ {
				if all[i-1].CustomResource == nil || all[i].CustomResource == nil {
					continue
				}
				if gone := missing(all[i-1].Stored, all[i].Stored); len(gone) > 0 {
					f.trims(l, bounds, r, &all[i], gone)
				}
			}
		}
	},
}

// missing are the versions that are in one list and not in another.
func missing(in, from []string) []string {
	return slices.DeleteFunc(slices.Clone(in), func(v string) bool { return slices.Contains(from, v) })
}

func withoutGroup(version string) string { return version[strings.LastIndex(version, "/")+1:] }

// namesAllStored compares each change of an object with the definition of that time, and all
// objects with each revision of the definition.
func (f *Facts) namesAllStored(l *law.Ledger, r Resource) {
	p, compared := f.population(r), int64(0)
	judge := func(d *Definition, c *Change) {
		compared++
		if stored := withoutGroup(c.Version()); !slices.Contains(d.Stored, stored) {
			l.Broken(c.Object.Name, f.when(c), law.Evidence(c.Seq, d.Seq), "%s %s is stored as %s since revision %d, and storedVersions of its definition is %v at revision %d",
				r.Name, c.Object.Name, stored, c.Revision, d.Stored, max(d.Revision, c.Revision))
		}
	}
	for i := range p.changes {
		if c := &p.changes[i]; !c.Gone {
			if d := f.definition(r, c.Revision); d != nil {
				judge(d, c)
			}
		}
	}
	for i := range f.definitions[r] {
		if d := &f.definitions[r][i]; d.CustomResource != nil {
			for _, c := range p.at(d.Revision) {
				judge(d, c)
			}
		}
	}
	if compared > 0 {
		l.Add(law.Entry{Ending: law.Met, About: r.String(), Began: f.Over(), Tags: []string{"compared"}, Times: compared})
	}
}

// trims judges a change of a definition by which storedVersions loses versions.
func (f *Facts) trims(l *law.Ledger, bounds law.Bounds, r Resource, now *Definition, gone []string) {
	at := f.When(now.Stamp)
	m, ended := f.trimmer(r, now)
	lost := func(why string, args ...any) {
		l.Broken(r.String(), at, law.Evidence(now.Seq), "storedVersions of %s lost %v at revision %d, and "+why, append([]any{r, gone, now.Revision}, args...)...)
	}
	switch {
	case m == nil:
		lost("nothing migrates it")
	case m.Found && (!ended || m.Outcome == history.MigrationSucceeded):
		l.Unclear(r.String(), at, "storedVersions of %s lost %v, and it is not known with which definition migration %s had begun", r, gone, m.Name)
	case !m.beganWith(now):
		lost("the definition is not the one that migration %s began with", m.Name)
	case m.Succeeded():
		l.Met(r.String(), at, "trimmed")
	case was(m.end()) || ended:
		lost("migration %s did not succeed", m.Name)
	default:
		if least, _ := f.When(m.sign()).Until(f.Over()); least > bounds.Of("succeedsAfter") {
			lost("migration %s has not succeeded since", m.Name)
			return
		}
		l.Open(r.String(), at, "migration %s trimmed storedVersions at the end of the history, and it is not known whether it succeeded", m.Name)
	}
}

// trimmer is the migration that trimmed a definition: the one that ran, or the last one
// that had ended if that had succeeded with this definition or none ran. ended is whether
// it is such a one.
func (f *Facts) trimmer(r Resource, now *Definition) (m *Migration, ended bool) {
	var running, done *Migration
	for _, m := range f.Migrations {
		if m.Of != r {
			continue
		}
		if running == nil && m.ran(now.Revision) {
			running = m
		}
		if end := m.end(); was(end) && end.Revision < now.Revision && (done == nil || end.Revision >= done.end().Revision) {
			done = m
		}
	}
	if running != nil && !(done != nil && done.Outcome == history.MigrationSucceeded && done.beganWith(now)) {
		return running, false
	}
	if done != nil && done.Outcome == history.MigrationSucceeded && !done.Found && !done.sameDefinition(now) {
		return nil, true
	}
	return done, true
}

// sameDefinition is whether it began with a definition that was not created again since, and
// beganWith whether that was also not changed.
func (m *Migration) sameDefinition(now *Definition) bool {
	d := m.facts.definition(m.Of, m.Started.Revision)
	return was(m.Started) && d != nil && d.Made == now.Made
}

func (m *Migration) beganWith(now *Definition) bool {
	return m.sameDefinition(now) && m.facts.definition(m.Of, m.Started.Revision).Generation == now.Generation
}
