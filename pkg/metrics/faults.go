package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// faults counts what was injected, seen to bite, and healed.
type faults struct {
	total *prometheus.CounterVec
	on    *prometheus.GaugeVec
	// under are those that were injected and not healed so far.
	under map[faultKey]bool
}

type faultKey struct{ id, member string }

func newFaults(f *factory) *faults {
	return &faults{
		total: f.counter("faults_total", "Faults by what they are and by phase: inject, witness (they were seen to bite) and heal.", "type", "action", "phase"),
		on:    f.gauge("faults_active", "Faults that were injected and not healed so far.", "member", "type", "action"),
		under: map[faultKey]bool{},
	}
}

func (f *faults) take(ev *history.Event) {
	if ev.Fault == nil {
		return
	}
	fault, key := ev.Fault, faultKey{ev.Fault.ID, ev.Member}
	f.total.WithLabelValues(fault.Type, fault.Action, string(fault.Phase)).Inc()
	on := f.on.WithLabelValues(ev.Member, fault.Type, fault.Action)
	switch {
	case fault.Phase == history.PhaseInject && !f.under[key]:
		f.under[key] = true
		on.Inc()
	case fault.Phase == history.PhaseHeal && f.under[key]:
		delete(f.under, key)
		on.Dec()
	}
}
