package election

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle02: candidates renew every 300 seconds, and when they are pinged (KEP-4355,
// "Component Lease Candidates"). Both times stand in the same object.
var cle02 = law.Written[*Facts]{
	Row:   law.Row{ID: "CLE-02", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "unasked"}}},
	Judge: judgeRenewals,
}

func judgeRenewals(f *Facts, l *law.Ledger, b law.Bounds) {
	for _, c := range f.candidates {
		if c.process() == nil {
			continue
		}
		last := c.changes[0] // answers do not count
		for i := 1; i < len(c.changes); i++ {
			before, now := c.changes[i-1], c.changes[i]
			if now.now.Renewed.Equal(before.now.Renewed) || !before.now.Answered() {
				continue
			}
			if since := now.now.Renewed.Sub(last.now.Renewed); since < b.Of("renewsEvery")-b.Of("renewsEarly") {
				l.Broken(c.Name, f.When(now.Stamp), law.Evidence(last.Seq, now.Seq), "candidate %s renewed without being asked, %s after the last time", c.Name, since.Round(time.Second))
			} else {
				l.MetBy(c.process().Member, c.Name, f.When(now.Stamp))
			}
			last = now
		}
	}
}
