package everyrun

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

const readyWithin = "readyWithin"

// ro02: a running member is ready within a bound, as soon as nothing disturbs it
// (highly available topology: each member serves on its own). It sees the answers of
// /readyz. It does not see a member that calls itself ready and serves nothing (RO-06), nor
// one that falls again and again and is ready for as long as the bound in between.
var ro02 = law.Deadline[*Facts, *server]{
	Row:     law.Row{ID: "RO-02", Takes: []string{history.LackProcesses}, Sources: []fact.Source{fact.Readyz}, Needs: []law.Need{{Name: "ready"}, {Name: "readyEach", Each: true}}},
	Bound:   readyWithin,
	Over:    (*Facts).servers,
	Begin:   (*server).unready,
	Running: func(s *server) fact.Signal { return fact.And(s.undisturbed(), fact.Not(s.ready())) },
	Done:    (*server).readies,
	Void:    (*server).stopped,
	Breach: func(s *server, _ fact.Moment, done *fact.Moment, took time.Duration) string {
		if done != nil {
			return fmt.Sprintf("%s was not ready for %s though nothing disturbed it", s.Member, took.Round(time.Second))
		}
		return fmt.Sprintf("%s has not been ready for %s though nothing disturbs it; %s", s.Member, took.Round(time.Second), s.lastAnswer())
	},
}

// server is one process of a member's API server. What it owes is not settled by the
// process before or after it.
type server struct {
	*fact.Process
	facts *Facts
}

func (f *Facts) servers() []*server {
	all := fact.Where(f.AllProcesses(), func(p *fact.Process) bool { return p.Component == history.ComponentAPIServer })
	return fact.Each(all, func(p *fact.Process) *server { return &server{p, f} })
}

// Entry is the obligation of a server.
func (s *server) Entry() law.Entry { return law.Entry{About: s.Member, Member: s.Member} }

// unready is when the API server starts, and when it stops being ready.
func (s *server) unready() []fact.Moment {
	out := []fact.Moment{s.Started}
	answers := s.facts.ReadyAnswers(s.Member)
	for i, a := range answers {
		if i == 0 || a.OK() || !answers[i-1].OK() {
			continue
		}
		fall := a.Since
		fall.Earliest = max(fall.Earliest, answers[i-1].Latest+1) // it had been ready before
		if fall.Latest > s.Started.Latest && s.Lived(fact.Exactly(fall.Latest, fall.Seq)) == fact.Yes {
			out = append(out, fall)
		}
	}
	return out
}

// readiness is a stretch of time in which the member is ready; fell is nil at the end.
type readiness struct {
	rose fact.Moment
	fell *fact.Moment
}

// answers are those of /readyz since the API server started.
func (s *server) answers() []fact.ReadyAnswer {
	return fact.Where(s.facts.ReadyAnswers(s.Member), func(a fact.ReadyAnswer) bool { return a.Earliest >= s.Started.Earliest })
}

// readinesses are those since the API server started.
func (s *server) readinesses() []readiness {
	var out []readiness
	for _, a := range s.answers() {
		goesOn := len(out) > 0 && out[len(out)-1].fell == nil
		switch {
		case a.OK() == goesOn:
		case a.OK():
			out = append(out, readiness{rose: a.Since})
		default:
			out[len(out)-1].fell = &a.Since
		}
	}
	return out
}

// ready is while the member is ready since the API server started.
func (s *server) ready() fact.Signal {
	return fact.Follow(s.answers(), func(a fact.ReadyAnswer) fact.Moment { return a.Since }, fact.ReadyAnswer.OK)
}

// readies is when the member becomes ready and stays so. Where it falls again before it was
// ready for as long as the bound, and nothing disturbed it, the clock did not come to its end:
// it stood.
func (s *server) readies() []fact.Moment {
	undisturbed, bound := s.undisturbed(), int64(requirement.MustBound("RO-02", readyWithin))
	stays := fact.Where(s.readinesses(), func(r readiness) bool {
		return r.fell == nil || r.rose.Earliest <= r.fell.Latest-bound ||
			undisturbed.During(fact.Moment{Earliest: r.rose.Earliest, Latest: r.fell.Latest}) != fact.Yes
	})
	return fact.Each(stays, func(r readiness) fact.Moment { return r.rose })
}

// stopped is when the harness ended the API server, or may have. One that ended by itself owes its
// readiness all the same, until the harness ends one that follows.
func (s *server) stopped() []law.Void {
	for p := s.Process; p != nil && p.Exited != nil; p = p.After {
		if s.facts.HarnessEnded(p) != fact.No {
			return law.Voids("the harness ended the API server", *p.Exited)
		}
	}
	return nil
}

// undisturbed is while no member has a fault, the harness has not ended or paused a component of
// the member, and a majority of etcd lives.
func (s *server) undisturbed() fact.Signal {
	f := s.facts
	return fact.And(fact.Not(f.AnyFault()), f.etcdQuorum(), f.goesOn(s.Member, history.ComponentEtcd), f.goesOn(s.Member, s.Component))
}

// goesOn is while the harness does not keep a component of a member from running.
func (f *Facts) goesOn(member, component string) fact.Signal {
	return fact.Not(f.Stopped(member, component))
}

// etcdQuorum is while the harness lets a majority of etcd run.
func (f *Facts) etcdQuorum() fact.Signal {
	return f.Majority(func(member string) fact.Signal { return f.goesOn(member, history.ComponentEtcd) })
}

// lastAnswer is the member's last answer in words, with the checks that failed.
func (s *server) lastAnswer() string {
	answers := s.facts.ReadyAnswers(s.Member)
	if len(answers) == 0 {
		return "it never answered /readyz"
	}
	last := answers[len(answers)-1]
	if last.Code == 0 {
		return "it gives no answer to /readyz"
	}
	return fmt.Sprintf("its last answer is %d (%s)", last.Code, strings.Join(last.Failing, ", "))
}
