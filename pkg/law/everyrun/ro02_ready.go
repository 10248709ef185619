package everyrun

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro02: a running member is ready within a bound, as soon as nothing disturbs it
// (highly available topology: each member serves on its own). It sees the answers of
// /readyz. It does not see a member that calls itself ready and serves nothing, nor one
// that is ready again each time before the bound is over, however often it falls.
var ro02 = law.Deadline[*Facts, *server]{
	Row:      law.Row{ID: "RO-02", Sources: []fact.Source{fact.Readyz}, Needs: []law.Need{{Name: "ready"}, {Name: "readyEach", Each: true}}},
	Bound:    "readyWithin",
	Over:     (*Facts).servers,
	Describe: func(s *server) law.Entry { return law.Entry{About: s.name, Member: s.name} },
	Begin:    (*server).unready,
	Running:  func(s *server) fact.Signal { return s.undisturbed() },
	Done:     (*server).readies,
	Void:     (*server).stopped,
	Breach: func(s *server, _ fact.Moment, done *fact.Moment, took time.Duration) string {
		if done != nil {
			return fmt.Sprintf("%s was not ready for %s though nothing disturbed it", s.name, took.Round(time.Second))
		}
		return fmt.Sprintf("%s has not been ready for %s though nothing disturbs it%s", s.name, took.Round(time.Second), s.lastReasons())
	},
}

// member is a member of the control plane in a history.
type member struct {
	*Facts
	name string
}

func (f *Facts) members() []*member {
	var out []*member
	for _, name := range f.Members() {
		out = append(out, &member{f, name})
	}
	return out
}

// server is one process of a member's API server. What it owes is not settled by the
// process before or after it.
type server struct {
	*member
	process *fact.Process
}

func (f *Facts) servers() []*server {
	var out []*server
	for _, m := range f.members() {
		for _, p := range f.Processes(m.name, history.ComponentAPIServer) {
			out = append(out, &server{m, p})
		}
	}
	return out
}

// unready is when the API server starts, and when it stops being ready.
func (s *server) unready() []fact.Moment {
	out := []fact.Moment{s.process.Started}
	answers := s.ReadyAnswers(s.name)
	for i, a := range answers {
		if i == 0 || a.Code == http.StatusOK || answers[i-1].Code != http.StatusOK {
			continue
		}
		fall := a.Since
		fall.Earliest = max(fall.Earliest, answers[i-1].Latest+1) // it had been ready before
		if fall.Latest > s.process.Started.Latest && s.process.Alive().During(fact.Exactly(fall.Latest, fall.Seq)) == fact.Yes {
			out = append(out, fall)
		}
	}
	return out
}

// readies is when the member becomes ready. The first good answer of a process may follow
// on one of the process before with none in between.
func (s *server) readies() []fact.Moment {
	var out []fact.Moment
	for _, a := range s.ReadyAnswers(s.name) {
		if a.Code == http.StatusOK {
			out = append(out, a.Since)
		}
	}
	for _, p := range s.Processes(s.name, history.ComponentAPIServer) {
		if first := s.FirstReady(p); first != nil {
			out = append(out, *first)
		}
	}
	slices.SortStableFunc(out, func(a, b fact.Moment) int { return cmp.Compare(a.Latest, b.Latest) })
	return out
}

// stopped is when the harness ended the API server. One that ended by itself owes its
// readiness all the same, until the harness ends one that follows.
func (s *server) stopped() []law.Void {
	for p := s.process; p != nil && p.Exited != nil; p = p.After {
		if p.Expected {
			return []law.Void{{Moment: *p.Exited, Why: "the harness ended the API server"}}
		}
	}
	return nil
}

// undisturbed is while no fault is active anywhere, the harness has not ended or paused a
// component of the member, and a majority of etcd lives.
func (m *member) undisturbed() fact.Signal {
	etcd := func(m *member) fact.Signal { return m.notStopped(history.ComponentEtcd) }
	return fact.And(fact.Not(m.FaultActive(func(*fact.Fault) bool { return true })), m.quorum(etcd), etcd(m), m.notStopped(history.ComponentAPIServer))
}

// notStopped is from the start of a process of the member's component until the harness
// ends or pauses it; the end of one by itself is no stop. Yes if none was seen.
func (m *member) notStopped(component string) fact.Signal {
	var b fact.Builder
	b.Begin(fact.Yes)
	var paused []fact.Signal
	for _, p := range m.Processes(m.name, component) {
		b.Set(p.Started, fact.Yes)
		if p.Exited != nil && p.Expected {
			b.Set(*p.Exited, fact.No)
		}
		paused = append(paused, p.Paused())
	}
	return fact.And(b.Signal(), fact.Not(fact.Or(paused...)))
}

// lastReasons are the checks that failed in the member's last answer.
func (m *member) lastReasons() string {
	answers := m.ReadyAnswers(m.name)
	if len(answers) == 0 {
		return "; it never answered /readyz"
	}
	last := answers[len(answers)-1]
	if last.Code == 0 {
		return "; it gives no answer to /readyz"
	}
	return fmt.Sprintf("; its last answer is %d (%s)", last.Code, strings.Join(last.Failing, ", "))
}
