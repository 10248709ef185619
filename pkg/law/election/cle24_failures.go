package election

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle24: passing failures of writes delay an election by no more than a bound: once they
// pass again, the Lease gets its leader (KEP-4355, "Coordinated Election Controller").
var cle24 = law.Deadline[*Facts, *Lease]{
	Row:      law.Row{ID: "CLE-24", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "recovered"}}},
	Bound:    "recoversWithin",
	Over:     (*Facts).electedLeases,
	Describe: (*Lease).entry,
	Begin:    (*Lease).writableAgain,
	Running:  func(l *Lease) fact.Signal { return fact.Not(l.faulty()) },
	Done:     (*Lease).shownLeaders,
	Void:     (*Lease).helped,
	Breach: func(l *Lease, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("%s had no leader for %s after writes to it could pass again", l.Key, took.Round(time.Second))
	},
}

// writableAgain are the healings of faults that had an effect on the Lease, at which it had
// no leader.
func (l *Lease) writableAgain() []fact.Moment {
	var out []fact.Moment
	for _, f := range l.facts.Faults {
		if f.Healed != nil && f.Witness != "" && f.About(leasePrefix+l.Key) && l.Led().At(f.Healed.Earliest) != fact.Yes && l.faulty().At(f.Healed.Latest) == fact.No {
			out = append(out, *f.Healed)
		}
	}
	return out
}
