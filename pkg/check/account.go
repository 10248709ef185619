package check

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// account is what a judgement says about a run beside its verdicts.
type account struct {
	history  *fact.History
	etcd     []EtcdSeen
	balancer BalancerSeen
	// notReached are the waits of the harness whose condition was not met, and which no
	// law judges.
	notReached []string
	// shown are what the header says that the run lacks and the history shows all the same, with
	// the number of the first event of it.
	shown map[string]int64
}

// showing are events that a run does not record which lacks something.
var showing = map[string]func(*history.Event) bool{
	history.LackEtcd:      func(ev *history.Event) bool { return ev.Stored != nil },
	history.LackProcesses: func(ev *history.Event) bool { return ev.Process != nil && !ev.Process.SelfReported },
	history.LackBalancer:  func(ev *history.Event) bool { return ev.LoadBalancer != nil },
}

// refute notes what an event shows that the header says the run lacks.
func (a *account) refute(ev *history.Event) {
	for _, lack := range a.history.Header.Lacks {
		if shows := showing[lack.What]; a.shown[lack.What] == 0 && shows != nil && shows(ev) {
			a.shown[lack.What] = ev.Seq
		}
	}
}

// header is the history's, without what it wrongly says that the run lacks: no claim keeps a
// law from judging what the history shows.
func (a *account) header() history.Header {
	header := a.history.Header
	header.Lacks = fact.Where(header.Lacks, func(lack history.Lack) bool { return a.shown[lack.What] == 0 })
	return header
}

// keptEtcd bounds how many health checks of etcd a judgement keeps: while the harness
// waits for etcd there are several per second.
const keptEtcd = 20

func (a *account) observe(ev *history.Event) {
	a.refute(ev)
	switch {
	case ev.EtcdHealth != nil:
		a.etcd = append(a.etcd, EtcdSeen{Event: ev.Seq, Problem: ev.EtcdHealth.Problem(), EtcdHealth: *ev.EtcdHealth})
		a.etcd = a.etcd[max(len(a.etcd)-keptEtcd, 0):]
	case ev.LoadBalancer != nil:
		a.balancer.take(ev)
	case ev.NotReached != nil && !ev.NotReached.Judged:
		// This includes waits for a member to be ready: the history may end before the
		// bound of RO-02 is over, and a report does not show an open obligation of a
		// requirement that the scenario does not list.
		a.notReached = append(a.notReached, fmt.Sprintf("%s (event %d)", ev.NotReached.Sentence(ev.Member), ev.Seq))
	}
}

// fill copies the account into a judgement.
func (a *account) fill(j *Judgement) {
	j.Etcd, j.Balancer = a.etcd, a.balancer.end(a.history.Now)
	j.Releases, j.Off = ran(a.history)
	for _, f := range a.history.Faults {
		j.Faults = append(j.Faults, FaultSeen{
			ID: f.ID, Type: f.Type, Action: f.Action, Member: f.Member, Component: f.Component,
			Witness: f.Witness, Healed: f.Healed != nil, Recovery: f.Recovery,
		})
	}
	for _, h := range a.history.Holds {
		if h.Ended != nil {
			j.Holds = append(j.Holds, HoldSeen{Name: h.Name, Releases: h.Releases})
		}
	}
	if end := a.history.End; end != nil {
		j.Complete, j.EndMessage = end.Complete, end.Message
	}
}

// neverBit ends the doubt about a fault without a witness.
const neverBit = "never proved that it bit"

// NeverBit is whether a doubt is about a fault that has no witness. Where a fault is injected by
// chance, it may have met nothing.
func NeverBit(doubt string) bool { return strings.HasSuffix(doubt, neverBit) }

// doubts are the reasons not to trust a pass of any requirement.
func (a *account) doubts(damage []string) []string {
	h := a.history
	var out []string
	for _, d := range damage {
		out = append(out, "the history is damaged: "+d)
	}
	out = append(out, h.Doubts()...)
	switch {
	case h.End == nil:
		out = append(out, "the history has no end: the run was cut off")
	case !h.End.Complete:
		out = append(out, "the scenario was not played to its end: "+h.End.Message)
	}
	for _, what := range law.SortedKeys(a.shown) {
		out = append(out, fmt.Sprintf("the header says that the run lacks %s, and event %d shows otherwise", needWords[what], a.shown[what]))
	}
	out = append(out, a.notReached...)
	for _, f := range h.Faults {
		if f.Witness == "" {
			note := ""
			if f.Note != "" {
				note = ": " + f.Note
			}
			out = append(out, fmt.Sprintf("the fault %s (%s %s on %s%s) "+neverBit, f.ID, f.Type, f.Action, f.Member, note))
		}
		if f.Healed == nil {
			out = append(out, fmt.Sprintf("the fault %s (%s %s on %s) was never healed: what it excuses has no end", f.ID, f.Type, f.Action, f.Member))
		}
		if f.Type == history.FaultPower && (f.Recovery == "" || !f.Whole) {
			out = append(out, fmt.Sprintf("nothing proves that %s and its etcd were whole again after the fault %s", f.Member, f.ID))
		}
	}
	for _, p := range h.AllProcesses() {
		if p.Paused().At(h.Now) != fact.No {
			out = append(out, fmt.Sprintf("the %s of %s was paused and never resumed: what that excuses has no end", p.Component, p.Member))
		}
	}
	return out
}
