package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle20: without a coordinator the instances elect one of themselves after a delay.
// KEP-4355 has them fall back to claiming the Lease directly.
type cle20 struct {
	findings
	claimed, left int64
	vacant        map[string]*vacancy
}

func newCLE20() *cle20 { return &cle20{vacant: map[string]*vacancy{}} }

func (c *cle20) Observe(w *World, ev *history.Event) {
	e := w.elections
	// What a coordinator does that has no Lease to do so is no doing of the instances.
	if m := e.moved; m != nil && m.taken && m.lease.now.Coordinator == "" && c.nobody(w, ev.At) && w.memberOfHost(m.lease.now.Holder) != "" && m.lease.key != coordinatorsLease {
		if v := c.vacant[m.lease.key]; v != nil {
			c.late(w, v, m.lease, ev)
			delete(c.vacant, m.lease.key)
			c.claimed++
		}
	}
	for _, l := range e.coordinated() {
		if w.held(l, ev.At) || !c.nobody(w, ev.At) || c.able(w, l) == nil {
			delete(c.vacant, l.key)
			continue
		}
		v := c.vacant[l.key]
		if v == nil {
			c.vacant[l.key] = &vacancy{since: ev.At, seq: ev.Seq}
			continue
		}
		c.late(w, v, l, ev)
	}
}

// late notes that a Lease was left for too long.
func (c *cle20) late(w *World, v *vacancy, l *ledLease, ev *history.Event) {
	able := c.able(w, l)
	if late := time.Duration(ev.At - v.since); able != nil && !v.reported && w.overdue(ev, v.since, claimsWithin) {
		v.reported = true
		c.left++
		c.inferOf(w, kindUnclaimed, able.release, at(v.seq, ev.Seq), "nobody coordinates, and nobody has taken %s for %s, though there are candidates", l.key, late.Round(time.Second))
	}
}

// nobody is whether no coordinator holds the coordinators' Lease, and none can.
func (c *cle20) nobody(w *World, now int64) bool {
	l := w.elections.leases[coordinatorsLease]
	return w.keysFail(leasePrefix+coordinatorsLease) && (l == nil || !w.held(l, now))
}

// able is an instance that lives and could take the Lease, whatever is wrong with the
// coordinators; nil if there is none.
func (c *cle20) able(w *World, l *ledLease) *elected {
	if w.keysFail(leasePrefix + l.key) {
		return nil
	}
	for _, k := range w.elections.of(l.key) {
		if p := k.process; p != nil && p.alive && !p.paused && k.created >= p.startedAt && w.serves(p.member) {
			return p
		}
	}
	return nil
}

func (c *cle20) Finish(*World) {}

func (c *cle20) Observations() []Observation {
	// One that was left is no less seen: where that is a documented deviation, nothing
	// else comes.
	return []Observation{{What: "Leases that were free while nobody coordinated, and were taken by an instance or left for too long", Seen: c.claimed + c.left, Need: needHandovers}}
}
