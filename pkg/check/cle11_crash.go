package check

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle11: after a leader's crash there is a new one within a bound.
type cle11 struct {
	findings
	replaced int64
	crashed  map[string]*vacancy
}

func newCLE11() *cle11 { return &cle11{crashed: map[string]*vacancy{}} }

func (c *cle11) Observe(w *World, ev *history.Event) {
	e := w.elections
	if ev.Process != nil && ev.Process.Change == history.ProcessExited {
		for _, l := range e.coordinated() {
			if w.held(l, ev.At) && w.memberOfHost(l.now.Holder) == ev.Member && componentOf(l.key) == ev.Process.Component {
				c.crashed[l.key] = &vacancy{since: ev.At, began: ev.At, seq: ev.Seq}
			}
		}
	}
	if m := e.moved; m != nil {
		if v := c.crashed[m.lease.key]; v != nil {
			v.helped = v.helped || m.deleted
		}
	}
	for _, l := range e.coordinated() {
		v := c.crashed[l.key]
		switch {
		case v == nil:
		case l.since > v.began && w.led(l):
			// Who was named has shown meanwhile that he is there, and leads since then.
			delete(c.crashed, l.key)
			c.taken(w, ev, l, v)
		case w.takesUp(l):
		case !w.electableSoon(l.key):
			// Time counts only while somebody is there who could lead.
			v.since = ev.At
		case !v.reported && w.overdue(ev, v.since, replacesWithin):
			v.reported = true
			c.infer(w, at(v.seq, ev.Seq), "%s has no leader, %s after its leader has crashed", l.key, time.Duration(ev.At-v.since).Round(time.Second))
		}
	}
}

// taken judges when somebody leads again. Who was elected because the Lease was deleted
// is no proof that he would have been without that.
func (c *cle11) taken(w *World, ev *history.Event, l *ledLease, v *vacancy) {
	late := time.Duration(l.since - v.since)
	switch {
	case late > replacesWithin+w.aways.between(v.since, l.since) && !v.reported:
		c.infer(w, at(v.seq, ev.Seq), "%s had no leader for %s after its leader had crashed", l.key, late.Round(time.Second))
	case late <= replacesWithin && !v.helped:
		c.replaced++
	}
}

// electableSoon is whether somebody is there who could lead, and no fault keeps
// the Lease from being written. Who coordinates may still have to be found out: that
// is part of the bound.
func (w *World) electableSoon(lease string) bool {
	if w.keysFail(leasePrefix+lease) || w.keysFail(leasePrefix+coordinatorsLease) {
		return false
	}
	return slices.ContainsFunc(w.elections.of(lease), w.eligible)
}

func (c *cle11) Finish(*World) {}

func (c *cle11) Observations() []Observation {
	return []Observation{{What: "crashes of a leader after which there was another one", Seen: c.replaced, Need: needHandovers}}
}
