package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle19: a coordinator leaves a Lease alone that somebody without coordination
// holds, whoever would be better. In KEP-4355 a Lease is marked as elected so that
// the coordinator can tell which ones are its own. When it is free, the coordinator
// may give it to a candidate.
type cle19 struct {
	findings
	renewals, elected int64
	// kept are Leases that were held so beside candidates.
	kept map[string]bool
}

func newCLE19() *cle19 { return &cle19{kept: map[string]bool{}} }

func (c *cle19) Observe(w *World, ev *history.Event) {
	e := w.elections
	m := e.moved
	if m == nil || m.lease.now == nil || m.lease.key == coordinatorsLease {
		return
	}
	l := m.lease
	switch {
	case legacy(m.before) && m.marked:
		c.infer(w, at(m.beforeSeq, ev.Seq), "%s holds %s without coordination, and was told that %s should", holderOf(m.before), l.key, l.now.Preferred)
	case legacy(l.now) && holderOf(m.before) == l.now.Holder && slices.ContainsFunc(e.of(l.key), w.able):
		c.renewals++
		c.kept[l.key] = true
	case m.taken && e.byCoordinator(l.now) && c.kept[l.key]:
		delete(c.kept, l.key)
		c.elected++
	}
}

// legacy is whether somebody holds a Lease and it says nothing of coordination.
func legacy(l *history.Lease) bool { return holderOf(l) != "" && l.Strategy == "" }

func (c *cle19) Finish(*World) {}

func (c *cle19) Observations() []Observation {
	return []Observation{
		{"renewals without coordination while candidates stood", c.renewals, needLegacyRenewals},
		{"elections for the same Leases, after their holders had gone", c.elected, needHandovers},
	}
}
