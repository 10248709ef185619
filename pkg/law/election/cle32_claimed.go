package election

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle32: a leader that took its Lease by itself, while no coordinator elected, keeps it as long
// as it renews: a coordinator that comes back neither tells it to give way nor takes the Lease
// (KEP-4355, "Migrations": a coordinator marks only Leases that it has claimed).
var cle32 = law.Each[*Facts, *Tenure]{
	Row: law.Row{ID: "CLE-32", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{{Name: "left", Tag: "left"}}},
	Over: func(f *Facts) []*Tenure {
		return fact.Where(tenures((*Lease).ofComponent)(f), func(t *Tenure) bool {
			return t.claimed() && t.candidate != nil && t.candidate.ofMember() && t.Taken.Now.Strategy == oldest
		})
	},
	End: func(t *Tenure, b law.Bounds) law.Entry {
		e := t.Entry()
		switch mark := t.mark(); {
		case mark != nil && mark.choice() == nil && mark.byCoordinatorAlone():
			return e.Broken("%s took %s by itself, and a coordinator told it to give way to %s", t.Holder, t.Key, mark.Now.Preferred).Shown(t.Taken.Seq, mark.Seq)
		case t.next != nil && t.next.Taken.byCoordinatorAlone() && t.next.Taken.early() == fact.Yes:
			return e.Broken("%s took %s by itself, and a coordinator gave it to %s %s", t.Holder, t.Key, t.next.Holder, t.next.Taken.earlyBy()).Shown(t.Taken.Seq, t.next.Taken.Seq)
		}
		for _, span := range fact.And(t.outranked(anyCandidate, (*Candidate).Eligible), t.held(), t.coordinating()).Spans(fact.Yes) {
			if time.Duration(min(span.End, t.Now)-span.Begin) > b.Of("leftAlone") {
				return e.Met("left")
			}
		}
		return law.Entry{}
	},
}
