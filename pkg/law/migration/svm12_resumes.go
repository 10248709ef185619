package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm12: when the controller that migrates has ended and come back, it goes on near the
// point where it was interrupted: it repeats one chunk (KEP-25, "Failure recovery"). A write
// of an object that is in the target version changes nothing in etcd, so the writes are
// counted that a fault on the controller's link has seen; etcd tells whether all were.
var svm12 = written{
	Row: law.Row{ID: "SVM-12", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("interrupted", "before", "after")},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		for _, m := range f.Migrations {
			crashes, sent, held := m.crashes(fact.Unknown), m.sent(), m.held()
			switch {
			case len(crashes) == 0:
				continue
			case held == fact.No:
				l.Add(law.Of(m.Name, *crashes[0].Exited).Excused("the servers' agreement was lost, so that it may have had to begin anew"))
				continue
			}
			m.linkSawAll(l, sent)
			for i, c := range crashes {
				until := int64(fact.Forever)
				if i+1 < len(crashes) {
					until = crashes[i+1].Exited.Latest
				}
				for _, e := range m.resumes(bounds, sent, *c.Exited, until) {
					l.Add(e.Owed(min(held, m.crashed(c))))
				}
			}
		}
	},
}

// resumes judges what was written again after an interruption and before the next one.
func (m *Migration) resumes(bounds law.Bounds, sent []exchange, crash fact.Moment, until int64) []law.Entry {
	asked, done, again, after := map[string]bool{}, map[string]bool{}, map[string]bool{}, int64(0)
	for _, x := range sent {
		asked[x.name] = true
		switch {
		case x.At <= crash.Latest && x.done():
			done[x.name] = true
		case x.At <= crash.Latest:
		case x.At <= until:
			after++
			if done[x.name] {
				again[x.name] = true
			}
		}
	}
	e, objects := law.Of(m.Name, crash), float64(len(asked))
	most := min(bounds.Number("chunk"), bounds.Number("repeats")*objects)
	switch {
	// So early in a migration nearly everything comes after the interruption, wherever it
	// goes on.
	case float64(len(done)) < bounds.Number("interruptedBeyond")*objects, after == 0:
		return []law.Entry{e.Excused("too little was done by then, or nothing was written afterwards")}
	case float64(len(again)) > most:
		return []law.Entry{e.Shown(m.Started.Seq, crash.Seq).Broken(
			"the controller of migration %s ended when %d of %d objects were done, and %d of those were written again afterwards (%.0f may be)",
			m.Name, len(done), len(asked), len(again), most)}
	}
	return []law.Entry{e.Met("interrupted"), tally(e, int64(len(done)), "before"), tally(e, after, "after")}
}

// linkSawAll doubts what is counted where the link has not seen all writes.
func (m *Migration) linkSawAll(l *law.Ledger, sent []exchange) {
	seen := map[string]bool{}
	for _, x := range sent {
		seen[x.name] = true
	}
	if unseen := fact.Where(m.rewritten(), func(c *Change) bool { return !seen[c.Object.Name] }); len(unseen) > 0 {
		l.Doubt("%d objects were rewritten by the interrupted migration %s and no write of them was seen on the controller's link, so that others may have been missed too",
			len(unseen), m.Name)
	}
}
