package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm16: very many objects are migrated to the end, while members are upgraded, the
// controller that migrates is killed again and again and one member is rolled back half
// way; then none of them is lost, altered or stored in an old version (KEP-25, "Goals"). A
// migration that stops because the agreement is lost may leave the rest to the next one.
var svm16 = together{
	Row: law.Row{ID: "SVM-16", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "before", Tag: "before"}, {Name: "rewritten", Tag: "rewritten"}, {Name: "after", Tag: "after"}, {Name: "upgraded", Tag: "upgraded"},
		{Name: "killedEarly", Tag: "early"}, {Name: "killedHalf", Tag: "half"}, {Name: "killedLate", Tag: "late"},
		{Name: "servers", Tag: "servers"}, {Name: "halfway", Tag: "halfway"},
	}},
	Parts: parts{
		each[*Migration]{Over: all, End: (*Migration).comesToTheEnd},
		altersNone,
		untoldWrites,
		written{Judge: losesNone},
		written{Judge: largestPassage},
	},
}

// comesToTheEnd judges how a migration ended.
func (m *Migration) comesToTheEnd(law.Bounds) law.Entry {
	e, stuck := m.Entry(), m.stuckBeforeLoss(m.When(m.Created), "")
	if m.Failed() && m.refused() && stuck.Ending == "" {
		stuck = m.stuck(m.lastProgress(m.end().Revision), m.end(), m.When(m.Created), "").Owed(m.held())
	}
	switch {
	case m.Succeeded() && m.agreement(m.Of, m.Ended.Revision).Is.Version == "":
		return e.Excused("it succeeded without an agreement, so that the next one has to show that all is migrated")
	case m.Succeeded():
		if r := m.left(func(*Change) bool { return true }); len(r.left) > 0 {
			return e.Shown(evidenceOf(m.Ended.Seq, r.left)...).
				Broken("migration %s succeeded at revision %d with %d objects stored as %s, and %d that are not", m.Name, m.Ended.Revision, r.compared, r.target, len(r.left)).Owed(r.sure)
		}
		return e.Met()
	case m.Failed() && m.held() != fact.No && !m.refused():
		return e.Shown(m.Started.Seq, m.Ended.Seq).Broken("migration %s failed (%s), with %s", m.Name, m.reason(), m.standing()).Owed(m.held())
	case stuck.Ending != "":
		return stuck
	case m.Failed():
		return e.Excused("it lost its agreement, its resource is not stored, or a fault refused a write of it")
	case was(m.Started):
		return m.unended(m.When(m.Created), "").Owed(m.held())
	}
	return law.Entry{}
}

// losesNone judges which objects of the harness went since the first migration of a resource
// began.
func losesNone(f *Facts, l *law.Ledger, bounds law.Bounds) {
	for _, r := range f.resources() {
		for _, c := range f.unasked(r) {
			switch e := c.Entry().Shown(c.Before().Seq, c.Seq); {
			case !f.begunBy(r, c.Revision):
			case c.Before().Metadata == 0:
				// No client of the harness wrote it, so that its owner may have deleted it: the
				// control plane keeps ConfigMaps of its own, for example.
			case f.Now-e.Began.Latest <= int64(bounds.Of("requestsTake")):
				l.Add(e.Open("it was deleted shortly before the end, and the request may not have been answered"))
			default:
				l.Add(e.Broken("%s went after a migration of it had begun, and no client had asked for that", c))
			}
		}
	}
}
