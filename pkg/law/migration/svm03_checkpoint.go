package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm03: the checkpoint is recorded once, and names a revision of the time since the
// migration was created (KEP-4192, status.resourceVersion).
var svm03 = written{
	Row: law.Row{ID: "SVM-03", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{{Name: "recorded", Tag: "recorded"}, {Name: "refused", Tag: history.InvalidCheckpoint}}},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, m := range f.Migrations {
			m.keepsCheckpoint(l)
		}
		f.refuses(l, history.InvalidCheckpoint, "another checkpoint")
	},
}

func (m *Migration) keepsCheckpoint(l *law.Ledger) {
	var recorded *Report
	for i := range m.Reports {
		r := &m.Reports[i]
		at := m.facts.When(r.Stamp)
		switch {
		case recorded != nil && r.Checkpoint != recorded.Checkpoint:
			l.Broken(m.Name, at, law.Evidence(recorded.Seq, r.Seq), "the checkpoint of migration %s was %s and is %q at revision %d", m.Name, recorded.Checkpoint, r.Checkpoint, r.Revision)
			return
		case recorded != nil || r.Checkpoint == "":
			continue
		}
		recorded = r
		if i == 0 {
			continue // a status at the creation is SVM-01's; what was found was recorded before
		}
		if revision := checkpointOf(r.Migration); revision < m.Created.Revision || revision > r.Revision {
			l.Broken(m.Name, at, law.Evidence(m.Created.Seq, r.Seq), "migration %s was created at revision %d, and at revision %d its checkpoint was recorded as %s",
				m.Name, m.Created.Revision, r.Revision, r.Checkpoint)
			return
		}
		l.Met(m.Name, at, "recorded")
	}
	switch {
	case recorded != nil || !m.Succeeded():
	case m.facts.unknown(m.Of, m.Ended), m.facts.unstored(m.Of, m.Ended):
		l.Excused(m.Name, m.facts.When(m.Ended), "its resource is not stored: that it succeeded is for SVM-18 and SVM-19 to judge")
	default:
		l.Broken(m.Name, m.facts.When(m.Ended), law.Evidence(m.Created.Seq, m.Ended.Seq), "migration %s succeeded at revision %d, and no checkpoint of it was recorded", m.Name, m.Ended.Revision)
	}
}
