package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle09: nobody takes a Lease before it has expired or was given up. KEP-4355:
// Leases can never be claimed by another leader until they expire.
type cle09 struct {
	findings
	expired, given int64
	// deletions are those of Leases that had not expired.
	deletions deletions
}

func (c *cle09) Observe(w *World, ev *history.Event) {
	e := w.elections
	m := e.moved
	// Whoever deletes a Lease takes it from its holder as well.
	c.deletions.take(w, ev, m != nil && holderOf(m.before) != "" && !forced(holderOf(m.before)) && (m.lease.key == coordinatorsLease || e.enrolled(m.lease)) &&
		ev.At < w.expires(m.before)-int64(clockTolerance))
	for _, d := range c.deletions.unasked(w) {
		c.infer(w, at(d.seq), "%s was deleted, which nobody had asked for, before it expired", d.lease)
	}
	if m == nil || !m.taken || forced(m.lease.now.Holder) || m.lease.key != coordinatorsLease && !e.enrolled(m.lease) {
		return
	}
	before := holderOf(m.before)
	switch {
	case m.from == "" || m.from == m.lease.now.Holder:
		return
	case before == "":
		if !m.afterDeletion {
			c.given++
		}
		return
	}
	if early := w.early(m); early > clockTolerance {
		c.infer(w, at(m.beforeSeq, ev.Seq), "%s took %s from %s %s before it expired", m.lease.now.Holder, m.lease.key, before, early.Round(timeShown))
		return
	}
	c.expired++
}

// early is how long before its Lease expired a holder has lost it to another one, or to
// nobody. Who takes it says when; the recorder can only have been later.
func (w *World) early(m *leaseMove) time.Duration {
	taken := w.Now
	if now := m.lease.now; now != nil && !now.Renewed.IsZero() && !now.Renewed.Equal(m.before.Renewed) {
		taken = w.since(now.Renewed)
	}
	return time.Duration(w.expires(m.before) - taken)
}

// clockTolerance is how far the clocks of two who write to a Lease may be apart.
const clockTolerance = time.Second

// enrolled is whether anybody has ever stood for a Lease.
func (e *elections) enrolled(l *ledLease) bool {
	return len(e.of(l.key)) > 0 || l.now != nil && l.now.Strategy != ""
}

// forced is whether a holder is one that somebody has put there by force.
func forced(holder string) bool {
	return holder == history.ElectionNobody || holder == history.ElectionThirdParty
}

func (c *cle09) Finish(*World) {}

func (c *cle09) Observations() []Observation {
	return []Observation{
		{What: "Leases taken over from another holder", Seen: c.expired + c.given, Need: needTakeovers},
		{What: "of those, Leases that had been given up", Seen: c.given, Need: needHandovers},
		{What: "of those, Leases that had expired", Seen: c.expired, Need: needHandovers},
	}
}
