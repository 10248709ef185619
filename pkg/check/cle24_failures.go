package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle24: passing failures of writes delay an election by no more than a bound: once
// they pass again, the Lease gets its leader.
type cle24 struct {
	findings
	recovered int64
	// waiting are Leases that nobody holds since writes to them failed, with when
	// they could be written again.
	waiting map[string]*vacancy
	// failed are Leases that were vacant while writes to them failed.
	failed map[string]int64
}

func newCLE24() *cle24 { return &cle24{waiting: map[string]*vacancy{}, failed: map[string]int64{}} }

func (c *cle24) Observe(w *World, ev *history.Event) {
	e := w.elections
	if e.moved != nil && e.moved.deleted {
		// Whoever is elected from now on was elected because of that.
		if v := c.waiting[e.moved.lease.key]; v != nil {
			v.helped = true
		}
		delete(c.failed, e.moved.lease.key)
	}
	for _, lease := range e.wanted() {
		l := e.leases[lease]
		free := l == nil || !w.led(l)
		fails := w.keysFail(leasePrefix + lease)
		switch {
		case !free:
			switch v := c.waiting[lease]; {
			case v == nil, v.reported:
			case time.Duration(l.since-v.since) > recoversWithin+w.aways.between(v.since, l.since):
				c.infer(w, at(v.seq, ev.Seq), "nobody held %s for %s after writes to it could pass again", lease, time.Duration(l.since-v.since).Round(time.Second))
			case l.since <= v.since: // it was held all along, which was told late
			case !v.helped && time.Duration(l.since-v.since) <= recoversWithin:
				c.recovered++
			}
			delete(c.waiting, lease)
			delete(c.failed, lease)
		case fails:
			c.failed[lease] = ev.Seq
			delete(c.waiting, lease)
		case c.failed[lease] > 0 && c.waiting[lease] == nil:
			if c.met(w, lease) {
				c.waiting[lease] = &vacancy{since: ev.At, seq: ev.Seq}
			}
			delete(c.failed, lease)
		}
		v := c.waiting[lease]
		if v == nil || l != nil && w.takesUp(l) {
			continue
		}
		if late := time.Duration(ev.At - v.since); !v.reported && w.overdue(ev, v.since, recoversWithin) {
			v.reported = true
			c.infer(w, at(v.seq, ev.Seq), "nobody holds %s, %s after writes to it could pass again", lease, late.Round(time.Second))
		}
	}
}

// met is whether a write to a Lease was really failed by a fault that is over.
func (c *cle24) met(w *World, lease string) bool {
	for _, f := range w.faults {
		if f.Healed && f.about(leasePrefix+lease) && f.Witness != "" {
			return true
		}
	}
	return false
}

func (c *cle24) Finish(*World) {}

func (c *cle24) Observations() []Observation {
	return []Observation{{What: "elections that writes had failed for, and that came about when they passed", Seen: c.recovered, Need: needHandovers}}
}
