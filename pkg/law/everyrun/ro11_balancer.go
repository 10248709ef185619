package everyrun

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// withoutAnswer is for how long clients may be without an answer, and its name.
const withoutAnswer = "withoutAnswer"

func mayBeWithoutAnswer() time.Duration { return requirement.MustBound("RO-11", withoutAnswer) }

// ro11: while members are replaced one by one, clients of the load balancer are without
// an answer no longer than a bound (highly available topology). It sees one client that
// reads one object over new connections. It does not see connections that break, nor
// replacements beside a fault.
var ro11 = law.Together[*Facts]{
	Row: law.Row{ID: "RO-11", Sources: []fact.Source{fact.Balancers}, Needs: []law.Need{{Name: "replaced", Tag: "answered"}}},
	Parts: []law.Law[*Facts]{answeredWhileReplaced, law.Written[*Facts]{Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, r := range f.replacements() {
			if len(r.lasts().Spans(fact.Yes)) == 0 {
				l.Excused(r.step.Action+" of "+r.step.Member, r.step.Began, "a fault was active all the time")
			}
		}
	}}},
}

var answeredWhileReplaced = law.Always[*Facts, replacement]{
	Over: (*Facts).replacements,
	Describe: func(r replacement) law.Entry {
		return law.Entry{About: r.step.Action + " of " + r.step.Member, Began: r.step.Began}
	},
	While: replacement.lasts,
	Holds: func(r replacement) fact.Signal { return r.facts.served() },
	Grace: withoutAnswer,
	Tag:   replacement.answered,
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
		if replacing[s.Action] && s.Member != "" {
			out = append(out, replacement{f, s})
		}
	}
	return out
}

func (r replacement) lasts() fact.Signal {
	var b fact.Builder
	b.SetAt(r.step.Began.Latest, fact.Yes)
	if r.step.Ended != nil {
		b.SetAt(r.step.Ended.Latest, fact.No)
	}
	return fact.And(b.Signal(), fact.Not(r.facts.FaultActive(func(*fact.Fault) bool { return true })))
}

// answered is a tag where a client was answered in a stretch of time.
func (r replacement) answered(span fact.Span) []string {
	for _, served := range r.facts.served().Spans(fact.Yes) {
		if served.Begin < span.End && served.End > span.Begin {
			return []string{"answered"}
		}
	}
	return nil
}

// served is while clients of the load balancer get answers: not from the last good answer
// on, but from the first one that fails, to the next good one.
func (f *Facts) served() fact.Signal {
	var b fact.Builder
	b.Begin(fact.Yes)
	for _, a := range f.balanced {
		b.Set(a.Moment, a.served)
	}
	if time.Duration(f.Now-f.heard) > mayBeWithoutAnswer() {
		b.SetAt(f.heard, fact.Unknown)
	}
	return b.Signal()
}
