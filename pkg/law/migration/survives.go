package migration

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// survives ends an obligation to come to a success in spite of something that happened
// while the migration ran; met enters it if it did. To fail for want of an agreement is
// right.
func (m *Migration) survives(l *law.Ledger, at fact.Moment, after string, met func()) {
	switch {
	case m.Succeeded():
		met()
	case !m.held():
		l.Excused(m.Name, at, "the servers' agreement was lost, or nothing tells of it")
	case m.Failed():
		l.Broken(m.Name, m.facts.When(m.Ended), law.Evidence(at.Seq, m.Ended.Seq), "migration %s failed (%s)%s, with %s", m.Name, m.reason(), after, m.standing())
	default:
		m.unended(l, at, after)
	}
}

// unended ends the obligation of a migration that has not ended: whether nothing came of it
// for longer than a controller that works takes.
func (m *Migration) unended(l *law.Ledger, at fact.Moment, after string) {
	least, most, allowed := m.stalled()
	e := law.Entry{About: m.Name, Began: at, Least: least, Most: most, Evidence: law.Evidence(at.Seq, m.sign().Seq)}
	switch {
	case least > allowed:
		e.Ending, e.Why = law.Late, "migration "+m.Name+" has not ended"+after+", and nothing came of it for "+allowed.Round(time.Second).String()+" or longer"
	case most > allowed:
		e.Ending, e.Why = law.Unclear, "it is not certain whether anything came of it in time"
	case was(m.Gone):
		e.Ending, e.Why = law.Excused, "it was deleted before it ended"
	case m.facts.able().At(m.facts.Now) == fact.No:
		e.Ending, e.Why = law.Excused, "no controller could migrate at the end of the history"
	default:
		e.Ending, e.Why = law.Open, "the history ended before the migration did"
	}
	l.Add(e)
}
