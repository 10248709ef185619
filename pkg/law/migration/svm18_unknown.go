package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm18: the migration of a resource that no server hosts fails within a bound, and says
// why (KEP-4192, the resource version controller).
var svm18 = written{
	Row: law.Row{ID: "SVM-18", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{{Name: "failed", Tag: "failed"}}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		for _, m := range f.Migrations {
			at := m.asked()
			if !f.unknown(m.Of, at) {
				continue
			}
			since := m.Created
			if gone := f.undefinedSince(m.Of, at.Revision); was(gone) && gone.Revision > since.Revision {
				since = gone
			}
			m.fails(l, bounds, since, m.Of.String()+", which no server hosts,")
		}
	},
}

// fails judges a migration that cannot succeed since a time: it has to fail within a bound,
// with a reason.
func (m *Migration) fails(l *law.Ledger, bounds law.Bounds, since fact.Stamp, of string) {
	f, began := m.facts, m.facts.When(since)
	least, most := f.worked(began, m.over())
	elapsed, _ := began.Until(m.over())
	within := bounds.Of("failsWithin")
	e := law.Entry{About: m.Name, Began: began, Least: least, Most: most, Evidence: law.Evidence(m.Created.Seq, m.end().Seq)}
	reason := conditionOf(m.Now(), m.Outcome)
	switch {
	case m.Succeeded() && since != m.Created:
		e.Ending, e.Why = law.Excused, "it had something to migrate when it was created"
	case m.Succeeded():
		e.Ending, e.Why = law.Broken, "migration "+m.Name+" of "+of+" succeeded"
	case least > within && was(m.Ended):
		e.Ending, e.Why = law.Late, "migration "+m.Name+" of "+of+" took "+rounded(elapsed).String()+" to fail"
	case least > within:
		e.Ending, e.Why = law.Late, "migration "+m.Name+" of "+of+" has not failed for "+within.String()
	case was(m.Ended) && (reason == nil || reason.Reason == "" || reason.Message == ""):
		e.Ending, e.Why = law.Broken, "migration "+m.Name+" failed without a reason or a message"
	case !m.Seen, since != m.Created:
		e.Ending, e.Why = law.Excused, "it may have failed for something else, or it is not known when it was created"
	case was(m.Gone) && !was(m.Ended):
		e.Ending, e.Why = law.Excused, "it was deleted before the bound was over"
	case elapsed > within:
		e.Ending, e.Why = law.Excused, "no controller could fail it in time"
	case !was(m.Ended):
		e.Ending, e.Why = law.Open, "the history ended before the bound was over"
	case most > within:
		e.Ending, e.Why = law.Unclear, "it is not certain whether it failed in time"
	default:
		e.Ending, e.Tags = law.Met, []string{"failed"}
	}
	l.Add(e)
}
