package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm02: a migration has one outcome, once, and no client can take it back (KEP-4192, the
// conditions of the status).
var svm02 = together{
	Row: law.Row{ID: "SVM-02", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "ended", Tag: "ended"}, {Name: "outcomes", Tag: history.InvalidOutcome}, {Name: "seconds", Tag: history.InvalidBoth},
	}},
	Parts: parts{
		each[*Migration]{Over: those(func(m *Migration) bool { return was(m.Ended) }), End: (*Migration).keepsOutcome},
		refuses(history.InvalidOutcome, "that the outcome is taken back"),
		refuses(history.InvalidBoth, "a second outcome"),
	},
}

func (m *Migration) keepsOutcome(law.Bounds) law.Entry {
	ran := false // by the report before
	for _, r := range m.Reports {
		runs := isTrue(r.Migration, history.MigrationRunning)
		again := runs && !ran
		ran = runs
		switch {
		case r.Revision < m.Ended.Revision:
		case isTrue(r.Migration, history.MigrationSucceeded) && isTrue(r.Migration, history.MigrationFailed):
			return m.ended().Broken("migration %s has both succeeded and failed", m.Name).Shown(r.Seq).Alone()
		case !isTrue(r.Migration, m.Outcome):
			return m.ended().Broken("migration %s had %s, and does not any more at revision %d", m.Name, m.Outcome, r.Revision).Shown(m.Ended.Seq, r.Seq)
		case again && r.Revision > m.Ended.Revision:
			return m.ended().Broken("migration %s had %s, and says at revision %d that it runs again", m.Name, m.Outcome, r.Revision).Shown(m.Ended.Seq, r.Seq)
		}
	}
	if !m.endedAs(m.Outcome) {
		return m.ended().Excused("it had ended before the recorder looked first")
	}
	return m.ended().Met("ended")
}
