package migration

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// kindSeveral is of breaches of SVM-28 in which migrations of several resources run.
const kindSeveral = "several"

// svm28: one migration runs at a time, whatever its resource (KEP-25, "Alpha workflow": the
// controller "makes sure there is only one migration worker job running at a time").
// One that succeeds without running, as of a resource that has one version, needs no worker.
var svm28 = written{
	Row: law.Row{ID: "SVM-28", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Kinds: []string{kindSeveral}, Needs: needs("waited")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.Migrations {
			for _, at := range m.runs() {
				for _, o := range those(func(o *Migration) bool { return o.Of != m.Of })(f) {
					l.Add(m.runsBeside(o, at))
				}
			}
		}
	},
}

// runs are when it began to run: once, and again each time that it had given way. One that does
// not say that it runs does so when it rewrites its first object.
func (m *Migration) runs() (out []fact.Stamp) {
	before := m.Found // what was there before the history began to run before that
	for _, r := range m.Reports {
		now := isTrue(r.Migration, history.MigrationRunning)
		if now && !before {
			out = append(out, r.Stamp)
		}
		before = now
	}
	if m.unsaid() {
		out = append(out, m.Started)
	}
	return out
}

// unsaid is whether an object that it rewrote shows that it had begun, and no report does.
func (m *Migration) unsaid() bool {
	return was(m.Started) && !slices.ContainsFunc(m.Reports, func(r Report) bool { return r.Seq == m.Started.Seq })
}

// runsBeside judges that a migration began to run against one of another resource: none if
// that had nothing to do with it.
func (m *Migration) runsBeside(o *Migration, at fact.Stamp) law.Entry {
	e := law.Of(m.Name, m.When(at))
	switch {
	case o.lived(at.Revision) && o.runsBy(at.Revision):
		return e.Broken("migration %s of %s began to run at revision %d, while %s of %s ran", m.Name, m.Of, at.Revision, o.Name, o.Of).
			Shown(o.Started.Seq, at.Seq).As(kindSeveral, m.releaseAt(at.Revision, at.At))
	case at == m.Started && was(o.Ended) && o.ran(m.Created.Revision) && o.Ended.Revision < m.Started.Revision && !m.agreement(m.Of, m.Created.Revision).Is.disputed():
		return e.Met("waited")
	}
	return law.Entry{}
}

// runsBy is whether the last report up to a revision says that it runs, or it has begun without
// saying so since. A migration that gave way to another one has begun and does not run.
func (m *Migration) runsBy(revision int64) bool {
	i := fact.Last(m.Reports, revision, func(r Report) int64 { return r.Revision })
	if m.unsaid() && m.Started.Revision <= revision && (i < 0 || m.Reports[i].Revision < m.Started.Revision) {
		return true
	}
	return i >= 0 && isTrue(m.Reports[i].Migration, history.MigrationRunning)
}
