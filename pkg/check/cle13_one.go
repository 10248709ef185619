package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle13: one coordinator is active at a time, and another one takes over. KEP-4355
// gives the coordinators a Lease of their own, so that they do not interfere.
type cle13 struct {
	findings
	writes, takeovers int64
	// orphaned is since when the server of the coordinator is gone.
	orphaned *vacancy
	// from is who had the Lease last, other than by force.
	from string
	// forced is when somebody took the Lease by force, and from whom.
	forcedAt   int64
	forcedFrom string
}

func (c *cle13) Observe(w *World, ev *history.Event) {
	e := w.elections
	l := e.leases[coordinatorsLease]
	if l == nil {
		return
	}
	if m := e.moved; m != nil && m.lease == l {
		if m.deleted || m.taken && forced(l.now.Holder) {
			c.forcedAt, c.forcedFrom = ev.At, holderOf(m.before)
		}
		if m.taken && !forced(l.now.Holder) {
			if c.from != "" && c.from != l.now.Holder {
				c.takeovers++
			}
			c.from = l.now.Holder
			c.late(w, ev)
			c.orphaned = nil
		}
	}
	if who, what := c.wrote(e, ev); who != "" {
		holder := holderOf(l.now)
		switch {
		case same(holder, who):
			c.writes++
		case same(c.forcedFrom, who) && time.Duration(ev.At-c.forcedAt) < noticesWithin:
		default:
			c.infer(w, at(l.seq, ev.Seq), "%s wrote to %s as a coordinator, and %q held the coordinators' Lease", who, what, holder)
		}
	}
	if ev.Process != nil && ev.Process.Change == history.ProcessExited && ev.Process.Component == history.ComponentAPIServer &&
		w.held(l, ev.At) && w.memberOfHost(l.now.Holder) == ev.Member {
		c.orphaned = &vacancy{since: ev.At, seq: ev.Seq}
	}
	switch o := c.orphaned; {
	case o == nil || o.reported:
	case w.keysFail(leasePrefix+coordinatorsLease) || !c.anyServer(w):
		o.since = ev.At
	default:
		c.late(w, ev)
	}
}

// late notes that nobody has taken over for too long.
func (c *cle13) late(w *World, ev *history.Event) {
	if o := c.orphaned; o != nil && !o.reported && w.overdue(ev, o.since, coordinatesWithin) {
		o.reported = true
		c.infer(w, at(o.seq, ev.Seq), "nobody coordinates, %s after the server of the coordinator has gone", time.Duration(ev.At-o.since).Round(time.Second))
	}
}

// wrote tells who has written as a coordinator, and to what.
func (c *cle13) wrote(e *elections, ev *history.Event) (who, what string) {
	switch m := e.moved; {
	case e.asked != nil:
		return e.asked.now.Coordinator, e.asked.name
	case m != nil && (m.taken || m.marked) && e.byCoordinator(m.lease.now):
		return m.lease.now.Coordinator, m.lease.key
	}
	return "", ""
}

// anyServer is whether an API server is there that could coordinate.
func (c *cle13) anyServer(w *World) bool {
	for _, member := range w.order {
		if in := w.servers[member].current(); in != nil && in.exitedAt == 0 && in.ready != nil && !w.faulty(member) {
			return true
		}
	}
	return false
}

func (c *cle13) Finish(*World) {}

func (c *cle13) Observations() []Observation {
	return []Observation{
		{What: "pings and elections by the coordinator that had the Lease", Seen: c.writes, Need: needCoordinatorWrites},
		{What: "coordinators that another one took over from", Seen: c.takeovers, Need: needHandovers},
	}
}
