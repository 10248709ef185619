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
	for _, k := range candidates((*Candidate).ofMember)(f) {
		last := k.said[0] // answers do not count
		for i, now := range k.said[1:] {
			if !now.renewed || !k.said[i].Answered() {
				continue
			}
			e := law.Of(k.Name, k.when(now)).By(k.process().Member)
			if since := now.Renewed.Sub(last.Renewed); since < b.Of("renewsEvery")-b.Of("renewsEarly") {
				l.Add(e.Broken("candidate %s renewed without being asked, %s after the last time", k.Name, since.Round(time.Second)).Shown(last.Seq, now.Seq))
			} else {
				l.Add(e.Met())
			}
			last = now
		}
	}
}
