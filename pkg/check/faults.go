package check

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func (w *World) takeFault(ev *history.Event) {
	f := ev.Fault
	if f.Phase == history.PhaseInject {
		w.faults = append(w.faults, &FaultSeen{ID: f.ID, Type: f.Type, Action: f.Action, Member: ev.Member, Component: f.Component, prefixes: strings.Join(f.Prefixes, " ")})
		return
	}
	// A fault that was injected twice needs two witnesses: each goes to the
	// injection before it.
	for i := len(w.faults) - 1; i >= 0; i-- {
		seen := w.faults[i]
		if seen.ID != f.ID || seen.Member != ev.Member {
			continue
		}
		if f.Phase == history.PhaseHeal {
			seen.Healed, seen.healedAt = true, ev.At
			continue
		}
		switch {
		case f.Phase != history.PhaseWitness || f.Proof == "":
		case seen.Type == history.FaultPower && seen.Healed:
			seen.Recovery = f.Proof
		default:
			seen.Witness = f.Proof
		}
		return
	}
}

// takeEtcd notes how etcd is; a power cut is over only when it is whole again.
func (w *World) takeEtcd(ev *history.Event) {
	problem := ev.Etcd.Problem()
	if len(w.etcd) >= keptEtcd {
		w.etcd = append(w.etcd[:0], w.etcd[1:]...)
	}
	w.etcd = append(w.etcd, EtcdSeen{Event: ev.Seq, Problem: problem, EtcdHealth: *ev.Etcd})
	for _, f := range w.faults {
		f.whole = f.whole || f.Healed && problem == ""
	}
}

// powerless is whether the member's power was cut and it has not been seen to
// be back since. What ends then, ends because of that.
func (w *World) powerless(member string) bool {
	for _, f := range w.faults {
		if f.Type == history.FaultPower && f.Member == member && f.Recovery == "" {
			return true
		}
	}
	return false
}

// doubts are the reasons not to trust a pass of any check.
func (w *World) doubts(damage []string) []string {
	var out []string
	for _, d := range damage {
		out = append(out, "the history is damaged: "+d)
	}
	if w.torn && len(damage) == 0 {
		out = append(out, "the numbers of the events have gaps: lines are missing")
	}
	if w.untimely != "" {
		out = append(out, "times cannot be told: "+w.untimely)
	}
	if w.alien > 0 {
		out = append(out, fmt.Sprintf("recorders that this evenkeel does not know may have missed something %d times", w.alien))
	}
	switch {
	case w.end == nil:
		out = append(out, "the history has no end: the run was cut off")
	case !w.end.Complete:
		out = append(out, "the scenario was not played to its end: "+w.end.Message)
	}
	out = append(out, w.died...)
	out = append(out, w.notReached...)
	for _, f := range w.faults {
		if f.Witness == "" {
			out = append(out, fmt.Sprintf("the fault %s (%s %s on %s) never proved that it bit", f.ID, f.Type, f.Action, f.Member))
		}
		if f.Type == history.FaultPower && (f.Recovery == "" || !f.whole) {
			out = append(out, fmt.Sprintf("nothing proves that %s and its etcd were whole again after the fault %s", f.Member, f.ID))
		}
	}
	return out
}

func (w *World) faultsSeen() []FaultSeen {
	out := make([]FaultSeen, 0, len(w.faults))
	for _, f := range w.faults {
		out = append(out, *f)
	}
	return out
}
