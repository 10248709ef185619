package election

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// kindNotFollowed is a strategy that was set on a Lease and by which no leader is elected.
const kindNotFollowed = "not-followed"

// cle27: an operator sets the strategy of a Lease, and the candidate that should lead by it
// leads at once, not only after the next election (KEP-4355, "Story 3", "Strategy").
var cle27 = law.Deadline[*Facts, *choice]{
	Row: law.Row{ID: "CLE-27", Sources: []fact.Source{fact.Etcd, fact.Requests}, Needs: []law.Need{
		{Name: "followed", Tag: "followed", Breaches: true},
	}, Kinds: []string{kindNotFollowed}},
	Bound: "followsWithin",
	Over: func(f *Facts) []*choice {
		return fact.Where(f.allChoices(), func(c *choice) bool { return orders[c.Now.Strategy] != nil })
	},
	Describe: func(c *choice) law.Entry { return c.Entry() },
	Begin: func(c *choice) []fact.Moment {
		if t := c.leader(); t == nil || len(c.preferred(t)) == 0 {
			return nil
		}
		return []fact.Moment{c.When()}
	},
	Running: func(c *choice) fact.Signal {
		t, before := c.leader(), orders[c.Now.Strategy]
		if t == nil {
			return fact.Constant(fact.No)
		}
		better := fact.Each(fact.Where(c.candidates, func(k *Candidate) bool { return k != t.candidate }), func(k *Candidate) fact.Signal {
			return fact.And(k.Eligible(), k.comes(before, t.candidate))
		})
		return fact.And(fact.Or(better...), c.coordinating(), fact.Not(c.faulty()))
	},
	Done: func(c *choice) []fact.Moment { return c.fitting(orders[c.Now.Strategy]) },
	Void: func(c *choice) []law.Void {
		if c.ends == nil {
			return nil
		}
		return law.Voids("the strategy was set to another one", c.ends.When())
	},
	Breach: func(c *choice, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
		return fmt.Sprintf("the strategy of %s was set to %s, and for %s no candidate led that is the best by it", c.Key, c.Now.Strategy, took.Round(time.Second))
	},
	Tag:     func(*choice, fact.Moment, fact.Moment) []string { return []string{"followed"} },
	Kind:    kindNotFollowed,
	Release: func(c *choice, began fact.Moment) string { return c.coordinatorRelease(began) },
}

// preferred are the candidates that should lead by the strategy in the place of a leader. By
// revisions it is certain who declared what when the strategy was set; the clock stands while
// none of them is eligible.
func (c *choice) preferred(t *Tenure) []*Candidate {
	leads := t.candidate.at(c.Revision)
	return fact.Where(c.standing(c.Revision), func(k *Candidate) bool {
		return leads != nil && k != t.candidate && orders[c.Now.Strategy](k.at(c.Revision), leads)
	})
}
