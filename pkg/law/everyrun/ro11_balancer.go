package everyrun

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro11: while members are replaced one by one, clients of the load balancer are without
// an answer no longer than a bound (highly available topology).
var ro11 = law.Always[*Facts, replacement]{
	Row:  law.Row{ID: "RO-11", Sources: []fact.Source{fact.Balancers}, Needs: []law.Need{{Name: "replaced"}}},
	Over: (*Facts).replacements,
	Describe: func(r replacement) law.Entry {
		return law.Entry{About: r.step.Action + " of " + r.step.Member, Began: r.step.Began}
	},
	While: replacement.lasts,
	Holds: func(r replacement) fact.Signal { return r.facts.served() },
	Grace: "withoutAnswer",
	Breach: func(r replacement, from, to int64) (string, []int64) {
		return fmt.Sprintf("clients of the load balancer had no answer for %s during the %s of %s", time.Duration(to-from).Round(10*time.Millisecond), r.step.Action, r.step.Member),
			law.Evidence(r.step.Began.Seq, r.facts.Evidence(from), r.facts.Evidence(to))
	},
}

// replacement is a step in which one member is replaced, while no fault is active.
type replacement struct {
	facts *Facts
	step  *fact.Step
}

// replacing are the actions that replace a member.
var replacing = map[string]bool{"upgrade": true, "rollback": true, "restart": true}

func (f *Facts) replacements() []replacement {
	if len(f.balanced) == 0 {
		return nil
	}
	var out []replacement
	for _, s := range f.Steps {
		if replacing[s.Action] && s.Member != "" && s.Ended != nil {
			out = append(out, replacement{f, s})
		}
	}
	return out
}

func (r replacement) lasts() fact.Signal {
	var b fact.Builder
	b.SetAt(r.step.Began.Latest, fact.Yes)
	b.SetAt(r.step.Ended.Latest, fact.No)
	return fact.And(b.Signal(), fact.Not(r.facts.FaultActive(func(*fact.Fault) bool { return true })))
}

// served is while clients of the load balancer get answers, from the last good answer to
// the first one that fails.
func (f *Facts) served() fact.Signal {
	var b fact.Builder
	b.Begin(fact.Yes)
	for _, a := range f.balanced {
		b.SetAt(a.At, fact.Of(a.served))
	}
	return b.Signal()
}
