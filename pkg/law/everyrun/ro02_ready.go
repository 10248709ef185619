package everyrun

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ro02: a running member is ready within a bound, as soon as nothing disturbs it
// (highly available topology: each member serves on its own).
var ro02 = law.Deadline[*Facts, *member]{
	Row:      law.Row{ID: "RO-02", Sources: []fact.Source{fact.Readyz}, Needs: []law.Need{{Name: "ready"}, {Name: "readyEach", Each: true}}},
	Bound:    "readyWithin",
	Over:     (*Facts).members,
	Describe: func(m *member) law.Entry { return law.Entry{About: m.name, Member: m.name} },
	Begin:    (*member).unready,
	Running:  (*member).undisturbed,
	Done:     func(m *member) []fact.Moment { return m.Rises(m.Ready(m.name)) },
	Void:     (*member).stopped,
	Breach: func(m *member, _ fact.Moment, done *fact.Moment, took time.Duration) string {
		if done != nil {
			return fmt.Sprintf("%s was not ready for %s though nothing disturbed it", m.name, took.Round(time.Second))
		}
		return fmt.Sprintf("%s has not been ready for %s though nothing disturbs it%s", m.name, took.Round(time.Second), m.lastReasons())
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

// unready is when the API server of the member starts, and when it stops being ready.
func (m *member) unready() []fact.Moment {
	var out []fact.Moment
	falls := m.Rises(fact.Not(m.Ready(m.name)))
	for _, p := range m.Processes(m.name, history.ComponentAPIServer) {
		out = append(out, p.Started)
		for _, fall := range falls {
			if fall.Earliest > p.Started.Latest && p.Alive().During(fall) == fact.Yes {
				out = append(out, fall)
			}
		}
	}
	return out
}

// stopped is when the harness ended the API server. One that ended by itself owes its
// readiness all the same.
func (m *member) stopped() []law.Void {
	var out []law.Void
	for _, p := range m.Processes(m.name, history.ComponentAPIServer) {
		if p.Exited != nil && p.Expected {
			out = append(out, law.Void{Moment: *p.Exited, Why: "the harness ended the API server"})
		}
	}
	return out
}

// undisturbed is while no fault is active anywhere, the harness has not ended or paused a
// component of the member, and a majority of etcd lives.
func (m *member) undisturbed() fact.Signal {
	signals := []fact.Signal{fact.Not(m.FaultActive(func(*fact.Fault) bool { return true })), m.etcdMajority()}
	for _, component := range []string{history.ComponentAPIServer, history.ComponentEtcd} {
		signals = append(signals, m.notStopped(component))
	}
	return fact.And(signals...)
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

// etcdMajority is while the harness has not stopped so many members of etcd that no
// majority is left. A control plane whose etcd was not seen to start has one.
func (f *Facts) etcdMajority() fact.Signal {
	members := f.members()
	var quorums []fact.Signal
	// Of n members no more than (n-1)/2 may be stopped: no pair of three, for example.
	for i, a := range members {
		for j := i + 1; j < len(members); j++ {
			quorums = append(quorums, fact.And(a.notStopped(history.ComponentEtcd), members[j].notStopped(history.ComponentEtcd)))
		}
	}
	if len(members) < 3 {
		return fact.And(signalsOf(members)...)
	}
	return fact.Or(quorums...)
}

func signalsOf(members []*member) []fact.Signal {
	var out []fact.Signal
	for _, m := range members {
		out = append(out, m.notStopped(history.ComponentEtcd))
	}
	return out
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
