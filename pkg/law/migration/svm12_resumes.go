package migration

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm12: when the controller that migrates has ended and come back, it goes on near the
// point where it was interrupted: it repeats one chunk (KEP-25, "Failure recovery"). A write
// of an object that is in the target version changes nothing in etcd, so the writes are
// counted that a fault on the controller's link has seen; etcd tells whether all were.
var svm12 = written{
	Row: law.Row{ID: "SVM-12", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "interrupted", Tag: "resumed"}, {Name: "before", Tag: "before"}, {Name: "after", Tag: "after"}}},
	Judge: func(f *Facts, l *law.Ledger, bounds law.Bounds) {
		for _, m := range f.Migrations {
			crashes := m.crashes()
			if len(crashes) == 0 {
				continue
			}
			if !m.held() {
				l.Excused(m.Name, crashes[0].Moment, "the servers' agreement was lost, so that it may have had to begin anew")
				continue
			}
			sent := m.sentDuring()
			m.sawAllWrites(l, sent)
			for i, c := range crashes {
				until := int64(fact.Forever)
				if i+1 < len(crashes) {
					until = crashes[i+1].Latest
				}
				m.resumes(l, bounds, sent, c, until)
			}
		}
	},
}

// resumes judges what was written again after an interruption and before the next one.
func (m *Migration) resumes(l *law.Ledger, bounds law.Bounds, sent []*exchange, crash interruption, until int64) {
	asked, done, again, after := map[string]bool{}, map[string]bool{}, map[string]bool{}, int64(0)
	for _, x := range sent {
		asked[x.name] = true
		switch {
		case x.At <= crash.Latest:
			done[x.name] = done[x.name] || x.done()
		case x.At <= until:
			after++
			again[x.name] = again[x.name] || done[x.name]
		}
	}
	repeated := int64(0)
	for _, written := range again {
		if written {
			repeated++
		}
	}
	// So early in a migration nearly everything comes after the interruption, wherever it
	// goes on.
	if float64(len(done)) < bounds.Number("interruptedBeyond")*float64(len(asked)) || after == 0 {
		l.Excused(m.Name, crash.Moment, "too little was done by then, or nothing was written afterwards")
		return
	}
	if most := min(bounds.Number("chunk"), bounds.Number("repeats")*float64(len(asked))); float64(repeated) > most {
		l.Broken(m.Name, crash.Moment, law.Evidence(m.Started.Seq, crash.Seq), "the controller of migration %s ended when %d of %d objects were done, and %d of those were written again afterwards (%.0f may be)",
			m.Name, len(done), len(asked), repeated, most)
		return
	}
	l.MetBy(crash.Member, m.Name, crash.Moment, "resumed")
	l.Add(law.Entry{Ending: law.Met, About: m.Name, Began: crash.Moment, Tags: []string{"before"}, Times: int64(len(done))})
	l.Add(law.Entry{Ending: law.Met, About: m.Name, Began: crash.Moment, Tags: []string{"after"}, Times: after})
}

// sawAllWrites doubts what is counted where the link has not seen all writes.
func (m *Migration) sawAllWrites(l *law.Ledger, sent []*exchange) {
	seen := map[string]bool{}
	for _, x := range sent {
		seen[x.name] = true
	}
	unseen := 0
	for _, c := range m.rewritten() {
		if !seen[c.Object.Name] {
			unseen++
		}
	}
	if unseen > 0 {
		l.Doubt("%d objects were rewritten by the interrupted migration %s and no write of them was seen on the controller's link, so that others may have been missed too", unseen, m.Name)
	}
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Second) }
