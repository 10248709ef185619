package migration

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// leavesNone judges a success by the objects that fit: each is stored in the version that
// objects are to be in.
func (m *Migration) leavesNone(l *law.Ledger, which string, fits func(*Change) bool, tags ...string) {
	at := m.facts.When(m.Ended)
	compared, left := m.left(fits)
	switch {
	case m.finished() == "":
		m.leavesNoneUnagreed(l, which, left)
		return
	case len(left) > 0:
		l.Broken(m.Name, at, evidenceOf(m.Ended.Seq, left), "migration %s succeeded at revision %d, and %d objects %s are not stored as %s, the first one being %s %s, which is stored as %s",
			m.Name, m.Ended.Revision, len(left), which, m.finished(), m.Of.Name, left[0].Object.Name, left[0].Version())
	}
	if compared > 0 {
		l.Add(law.Entry{Ending: law.Met, About: m.Name, Began: at, Tags: tags, Times: compared})
	}
}

// leavesNoneUnagreed judges a success without any agreement: it cannot be held against one
// version, but whatever no server stores objects in was left behind.
func (m *Migration) leavesNoneUnagreed(l *law.Ledger, which string, left []*Change) {
	if len(left) == 0 {
		return // nothing was there to be migrated
	}
	at, stored := m.facts.When(m.Ended), m.facts.agreement(m.Of, m.Ended.Revision).Encodings
	left = slices.DeleteFunc(left, func(c *Change) bool { return len(stored) == 0 || slices.Contains(stored, c.Version()) })
	if len(left) > 0 {
		l.Broken(m.Name, at, evidenceOf(m.Ended.Seq, left), "migration %s succeeded at revision %d, and %d objects %s are stored in a version that no server stores (%v are announced)",
			m.Name, m.Ended.Revision, len(left), which, stored)
		return
	}
	l.Unclear(m.Name, at, "migration %s succeeded when the servers agreed on no version, so that what it did cannot be compared with any", m.Name)
}

// left are the objects that a migration which succeeded has not left as they are to be:
// those that existed at the end and fit, and are in another version than the one that
// objects are to be in. What users wrote in a version that was agreed on while the success
// was being written is not what it left.
func (m *Migration) left(fits func(*Change) bool) (compared int64, left []*Change) {
	f, target := m.facts, m.finished()
	now := f.agreement(m.Of, m.Ended.Revision)
	changed := m.changedAtEnd()
	for _, c := range f.population(m.Of).at(m.Ended.Revision) {
		switch {
		case !fits(c):
		case c.Version() == target:
			compared++
		case changed && c.tagged() && c.Revision > now.Revision && now.Version != "" && c.Version() == now.Version:
		default:
			left = append(left, c)
		}
	}
	return compared, left
}

// evidenceOf names the first events of changes.
func evidenceOf(first int64, changes []*Change) []int64 {
	out := []int64{first}
	for _, c := range changes[:min(len(changes), maxExamples)] {
		out = append(out, c.Seq)
	}
	return out
}

// maxExamples is how many objects a breach names.
const maxExamples = 5
