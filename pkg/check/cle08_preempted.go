package check

import (
	"cmp"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle08: where a better candidate is there, the leader is told, and gives way to
// it, within a bound. KEP-4355 has the coordinator mark the Lease, and the leader
// stop renewing it.
type cle08 struct {
	findings
	handed int64
	// worse are Leases whose leader somebody better could replace.
	worse map[string]*vacancy
	// told are the marks that leaders have got.
	told map[string]bool
}

func newCLE08() *cle08 { return &cle08{worse: map[string]*vacancy{}, told: map[string]bool{}} }

func (c *cle08) Observe(w *World, ev *history.Event) {
	e := w.elections
	if m := e.moved; m != nil {
		switch {
		case m.deleted:
			delete(c.told, m.lease.key)
		case m.marked && m.lease.now.Strategy == byOldest:
			c.told[m.lease.key] = true
		case m.taken:
			switch early := c.early(w, m); {
			case !c.told[m.lease.key]:
			case early > clockTolerance && e.byCoordinator(m.lease.now) && e.candidateOf(m.lease, m.lease.now.Holder) != nil:
				c.infer(w, at(m.beforeSeq, ev.Seq), "%s was told to give %s up, and it was given to %s %s before it expired", holderOf(m.before), m.lease.key, m.lease.now.Holder, early.Round(timeShown))
			case early <= clockTolerance && c.better(w, m):
				c.handed++
			}
			delete(c.told, m.lease.key)
		}
	}
	for _, lease := range e.wanted() {
		l := e.leases[lease]
		if l == nil || l.now == nil || l.now.Strategy != byOldest || !w.coordinates() || w.keysFail(leasePrefix+lease) {
			delete(c.worse, lease)
			continue
		}
		// Where the Lease runs out, who gets it next goes on for who had it.
		leader := e.leaderOf(l)
		var better *candidateSeen
		for _, other := range e.of(lease) {
			if leader != nil && older(other, leader) && w.eligible(other) {
				better = other
			}
		}
		if better == nil {
			delete(c.worse, lease)
			continue
		}
		v := c.worse[lease]
		if v == nil {
			c.worse[lease] = &vacancy{since: ev.At, seq: ev.Seq}
			continue
		}
		if late := time.Duration(ev.At - v.since); !v.reported && w.held(l, ev.At) && w.overdue(ev, v.since, replacesWithin) {
			v.reported = true
			c.infer(w, at(v.seq, ev.Seq), "%s (%s) has held %s for %s while %s (%s) was there", leader.name, leader.now.Binary, lease, late.Round(time.Second), better.name, better.now.Binary)
		}
	}
}

// early is how long before it expired a Lease was taken from who had been told to give it
// up; nothing if he had.
func (c *cle08) early(w *World, m *leaseMove) time.Duration {
	if holderOf(m.before) == "" {
		return 0
	}
	return w.early(m)
}

// better is whether a Lease went to somebody with a lower version.
func (c *cle08) better(w *World, m *leaseMove) bool {
	e := w.elections
	who := e.candidateOf(m.lease, m.lease.now.Holder)
	if who == nil || m.from == m.lease.now.Holder {
		return false
	}
	from := cmp.Or(e.candidateOf(m.lease, m.from), e.departedOf(m.lease, m.from)) // who gives way may withdraw
	return from == nil || older(who, from)
}

func (c *cle08) Finish(*World) {}

func (c *cle08) Observations() []Observation {
	return []Observation{{What: "leaders that were told to give way to a better one, and did", Seen: c.handed, Need: needHandovers}}
}
