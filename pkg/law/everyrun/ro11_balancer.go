package everyrun

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// withoutAnswer is for how long clients may be without an answer, and its name.
const withoutAnswer = "withoutAnswer"

func mayBeWithoutAnswer() time.Duration { return requirement.MustBound("RO-11", withoutAnswer) }

// ro11: while members are replaced one by one, clients of the load balancer are without
// an answer no longer than a bound (highly available topology). It sees one client that
// reads one object over new connections. It does not see connections that break, nor
// replacements beside a fault, or while the harness keeps the other members from serving.
var ro11 = law.Always[*Facts, replacement]{
	Row:   law.Row{ID: "RO-11", Also: []string{history.LackBalancer}, Sources: []fact.Source{fact.Balancers}, Needs: []law.Need{{Name: "replaced"}}},
	Over:  (*Facts).replacements,
	While: replacement.lasts,
	Holds: func(r replacement) fact.Signal { return r.facts.served() },
	Grace: withoutAnswer,
	Idle:  "a fault was active, or the harness kept all members from serving, all the time",
	Breach: func(r replacement, from, to int64) (string, []int64) {
		return fmt.Sprintf("clients of the load balancer had no answer for %s during the %s", time.Duration(to-from).Round(10*time.Millisecond), r.Entry().About),
			law.Evidence(r.Began.Seq, r.facts.Evidence(from), r.facts.Evidence(to))
	},
}

// replacement is a step in which one member is replaced, while no member has a fault.
type replacement struct {
	facts *Facts
	*fact.Step
}

// replaces is whether a step replaces a single member.
func replaces(s *fact.Step) bool {
	return s.Member != "" && slices.Contains([]string{"upgrade", "rollback", "restart"}, s.Action)
}

func (f *Facts) replacements() []replacement {
	if len(f.balanced) == 0 {
		return nil
	}
	return fact.Each(fact.Where(f.Steps, replaces), func(s *fact.Step) replacement { return replacement{f, s} })
}

// Entry is the obligation of a replacement.
func (r replacement) Entry() law.Entry { return law.Of(r.Action+" of "+r.Member, r.Began) }

// lasts is while the member is replaced and, where clients have no answer when that is over,
// until they have one or the harness does something else. Meanwhile they are owed answers while
// no fault is at any member and the harness does not keep all members from serving.
func (r replacement) lasts() fact.Signal {
	until := r.Ended
	if until != nil {
		end := fact.Exactly(r.facts.served().Reaches(until.Latest, 0, fact.Yes), until.Seq)
		for _, s := range r.facts.Steps {
			if s.Began.Latest >= until.Latest && s.Action != fact.ActionHold && !replaces(s) {
				end.Earliest, end.Latest = min(end.Earliest, s.Began.Latest), min(end.Latest, s.Began.Latest)
			}
		}
		until = &end
	}
	return fact.And(fact.Between(r.Began, until), fact.Not(r.facts.AnyFault()), r.facts.answersOwed())
}

// answersOwed is while the harness lets any member serve, and etcd have a majority.
func (f *Facts) answersOwed() fact.Signal {
	return fact.And(f.AnyMember(f.letServe), f.Majority(f.etcdAtWork))
}

// served is while clients of the load balancer get answers: not from the last good answer
// on, but from the first one that fails, to the next good one. Before the first one it is not
// known.
func (f *Facts) served() fact.Signal {
	var b fact.Builder
	b.Begin(fact.Unknown)
	for _, a := range f.balanced {
		b.Set(a.Moment, a.served)
	}
	if time.Duration(f.Now-f.heard) > mayBeWithoutAnswer() {
		b.SetAt(f.heard, fact.Unknown)
	}
	return b.Signal()
}
