package migration

import (
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
		for _, m := range those(func(m *Migration) bool { return was(m.Started) && !m.Found && m.saysRunning(m.Started.Revision) })(f) {
			for _, o := range those(func(o *Migration) bool { return o.Of != m.Of })(f) {
				l.Add(m.beginsBeside(o))
			}
		}
	},
}

// beginsBeside judges the start of a migration against one of another resource: none if
// that had nothing to do with it.
func (m *Migration) beginsBeside(o *Migration) law.Entry {
	e := law.Of(m.Name, m.When(m.Started))
	switch {
	case o.lived(m.Started.Revision) && o.saysRunning(m.Started.Revision):
		return e.Broken("migration %s of %s began to run at revision %d, while %s of %s ran", m.Name, m.Of, m.Started.Revision, o.Name, o.Of).
			Shown(o.Started.Seq, m.Started.Seq).As(kindSeveral, m.releaseAt(m.Started.Revision, m.Started.At))
	case was(o.Ended) && o.ran(m.Created.Revision) && o.Ended.Revision < m.Started.Revision && !m.agreement(m.Of, m.Created.Revision).Is.disputed():
		return e.Met("waited")
	}
	return law.Entry{}
}

// saysRunning is whether the last report up to a revision says that it runs. A migration
// that gave way to another one has begun and does not run.
func (m *Migration) saysRunning(revision int64) bool {
	i := fact.Last(m.Reports, revision, func(r Report) int64 { return r.Revision })
	return i >= 0 && isTrue(m.Reports[i].Migration, history.MigrationRunning)
}
