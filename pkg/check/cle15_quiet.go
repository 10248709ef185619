package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle15: nothing is elected without need. While nothing happens a Lease is written
// by its holder alone, who renews it, and nobody is pinged.
type cle15 struct {
	findings
	renewals int64
	leases   once
	count    int64
	disturb  int64
	// deletions are those of Leases while nothing happened.
	deletions deletions
}

func (c *cle15) Observe(w *World, ev *history.Event) {
	e := w.elections
	// What is moved without need is no reason to move more, however soon.
	quiet := time.Duration(ev.At-max(e.quietSince, c.disturb)) > quietAfter || time.Duration(ev.At-e.causedAt) > settlesWithin
	m := e.moved
	watched := m != nil && m.lease.key != coordinatorsLease && m.before != nil && c.component(e, m.lease)
	c.deletions.take(w, ev, watched && quiet)
	for _, d := range c.deletions.unasked(w) {
		c.infer(w, at(d.seq), "%s was deleted, and nothing had happened for %s", d.lease, quietAfter)
	}
	if e.declared != nil || e.gone != nil {
		c.disturb = ev.At
		return
	}
	if asked := e.asked; asked != nil && asked.process != nil {
		if quiet {
			c.infer(w, at(asked.pingedSeq), "candidate %s was pinged, and nothing had happened for %s", asked.name, quietAfter)
		}
		return
	}
	if !watched {
		return
	}
	switch {
	case m.deleted:
		c.disturb = ev.At
	case m.taken || m.marked || m.released:
		if quiet {
			c.infer(w, at(m.beforeSeq, ev.Seq), "%s was given to %q instead of %q (preferred %q), and nothing had happened for %s",
				m.lease.key, holderOf(m.lease.now), holderOf(m.before), preferredOf(m.lease.now), quietAfter)
		}
		c.disturb = ev.At
	case quiet && m.lease.now.Renewed.Equal(m.before.Renewed):
		c.infer(w, at(m.beforeSeq, ev.Seq), "%s was written and not renewed, and nothing had happened for %s", m.lease.key, quietAfter)
	case quiet:
		c.renewals++
		if c.leases.first(m.lease.key) {
			c.count++
		}
	}
}

func preferredOf(l *history.Lease) string {
	if l == nil {
		return ""
	}
	return l.Preferred
}

// component is whether instances of the members stand for a Lease.
func (c *cle15) component(e *elections, l *ledLease) bool {
	for _, k := range e.of(l.key) {
		if k.process != nil {
			return true
		}
	}
	return false
}

func (c *cle15) Finish(*World) {}

func (c *cle15) Observations() []Observation {
	return []Observation{
		{What: "renewals of Leases while nothing happened", Seen: c.renewals, Need: needQuietRenewals},
		{What: "Leases that were renewed then", Seen: c.count, Need: needHandovers},
	}
}
