package check

import (
	"slices"
	"strings"

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
	// deletions are those of Leases that were held so.
	deletions deletions
}

func newCLE19() *cle19 { return &cle19{kept: map[string]bool{}} }

func (c *cle19) Observe(w *World, ev *history.Event) {
	e := w.elections
	m := e.moved
	c.deletions.take(w, ev, m != nil && m.lease.key != coordinatorsLease && legacy(m.before) && ev.At < w.expires(m.before)-int64(clockTolerance))
	for _, d := range c.deletions.unasked(w) {
		c.infer(w, at(d.seq), "%s was held without coordination, and was deleted before it expired", d.lease)
	}
	if m == nil || m.lease.now == nil || m.lease.key == coordinatorsLease {
		return
	}
	l := m.lease
	switch {
	case legacy(m.before) && m.marked && !triedOut(l):
		c.infer(w, at(m.beforeSeq, ev.Seq), "%s holds %s without coordination, and was told that %s should", holderOf(m.before), l.key, l.now.Preferred)
	case legacy(m.before) && c.seized(w, m):
		c.infer(w, at(m.beforeSeq, ev.Seq), "%s held %s without coordination, and a coordinator gave it to %q (strategy %q) %s before it expired",
			holderOf(m.before), l.key, l.now.Holder, l.now.Strategy, w.early(m).Round(timeShown))
	case legacy(l.now) && holderOf(m.before) == l.now.Holder && slices.ContainsFunc(e.of(l.key), w.able):
		c.renewals++
		c.kept[l.key] = true
	case m.taken && e.byCoordinator(l.now) && c.kept[l.key]:
		delete(c.kept, l.key)
		c.elected++
	}
}

// seized is whether a coordinator has made a Lease its own before it expired.
func (c *cle19) seized(w *World, m *leaseMove) bool {
	return w.elections.byCoordinator(m.lease.now) && !triedOut(m.lease) && w.early(m) > clockTolerance
}

// triedOut is whether the harness itself has written what a Lease says: to try the fields
// out, or for somebody who does not exist. That is none of a coordinator's.
func triedOut(l *ledLease) bool {
	return strings.HasPrefix(l.key, ownFields) || forced(l.now.Holder)
}

// legacy is whether somebody holds a Lease and it says nothing of coordination.
func legacy(l *history.Lease) bool { return holderOf(l) != "" && l.Strategy == "" }

func (c *cle19) Finish(*World) {}

func (c *cle19) Observations() []Observation {
	return []Observation{
		{What: "renewals without coordination while candidates stood", Seen: c.renewals, Need: needLegacyRenewals},
		{What: "elections for the same Leases, after their holders had gone", Seen: c.elected, Need: needHandovers},
	}
}
