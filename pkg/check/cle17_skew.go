package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle17: while members are upgraded or rolled back one by one, a leader is never
// newer than the oldest candidate that is well for longer than a bound, and the
// leadership does not flap. This is what KEP-4355 is for.
type cle17 struct {
	findings
	mixed, led int64
	// states are the mixtures of releases that were seen.
	states once
	// newer are the Leases whose leader is newer than it should be.
	newer map[string]*vacancy
	// needless are the last changes of leader that nobody can see a reason for.
	needless map[string]needlessChange
}

type needlessChange struct{ at, seq int64 }

func newCLE17() *cle17 {
	return &cle17{newer: map[string]*vacancy{}, needless: map[string]needlessChange{}}
}

func (c *cle17) Observe(w *World, ev *history.Event) {
	e := w.elections
	for _, l := range e.coordinated() {
		c.skew(w, l, ev)
	}
	m := e.moved
	if m == nil || !m.taken || m.lease.now.Strategy == "" {
		return
	}
	who := e.candidateOf(m.lease, m.lease.now.Holder)
	if who == nil || who.process == nil {
		return
	}
	if state, several := c.mixture(e, m.lease); several {
		c.led++
		if c.states.first(m.lease.key + state) {
			c.mixed++
		}
	}
	c.flap(w, m, who, ev)
}

// skew notes since when a leader is newer than it should be.
func (c *cle17) skew(w *World, l *ledLease, ev *history.Event) {
	e := w.elections
	leader := e.candidateOf(l, holderOf(l.now))
	var oldest *candidateSeen
	if leader != nil && leader.process != nil && w.held(l, ev.At) {
		for _, other := range e.of(l.key) {
			if other.process != nil && w.eligible(other) && older(other, leader) {
				oldest = other
			}
		}
	}
	if oldest == nil {
		delete(c.newer, l.key)
		return
	}
	v := c.newer[l.key]
	if v == nil {
		c.newer[l.key] = &vacancy{since: ev.At, seq: ev.Seq}
		return
	}
	if late := time.Duration(ev.At - v.since); late > replacesWithin && !v.reported {
		v.reported = true
		c.infer(w, at(v.seq, ev.Seq), "%s (%s) has led %s for %s, while %s (%s) was well", leader.name, leader.now.Binary, l.key, late.Round(time.Second), oldest.name, oldest.now.Binary)
	}
}

// mixture names the versions of all candidates of a Lease that are there; several
// is whether there are more than one.
func (c *cle17) mixture(e *elections, l *ledLease) (state string, several bool) {
	first := ""
	for _, k := range e.of(l.key) {
		if k.process == nil || !k.process.alive || k.created < k.process.startedAt {
			continue
		}
		state += " " + k.process.member + "=" + k.now.Binary
		several = several || first != "" && first != k.now.Binary
		first = k.now.Binary
	}
	return state, several
}

// flap notes a change of leader for which there is no reason to be seen. One may
// have a reason that cannot be seen; two of them soon after each other are flapping.
func (c *cle17) flap(w *World, m *leaseMove, who *candidateSeen, ev *history.Event) {
	from := w.elections.candidateOf(m.lease, m.from)
	if m.afterDeletion || from == nil || from == who || from.process == nil || older(who, from) || !w.able(from) || from.process == who.process {
		return
	}
	p := from.process
	if time.Duration(ev.At-p.changedAt) < wellFor || time.Duration(ev.At-w.elections.quietSince) < wellFor {
		return
	}
	before, again := c.needless[m.lease.key]
	c.needless[m.lease.key] = needlessChange{ev.At, ev.Seq}
	if again && time.Duration(ev.At-before.at) < flaps {
		c.infer(w, at(before.seq, ev.Seq), "%s went from %s (%s), which is well, to %s (%s), and had changed %s before without a reason to be seen",
			m.lease.key, from.name, from.now.Binary, who.name, who.now.Binary, time.Duration(ev.At-before.at).Round(100*time.Millisecond))
	}
}

func (c *cle17) Finish(*World) {}

func (c *cle17) Observations() []Observation {
	return []Observation{
		{"changes of leader while candidates of several releases stood", c.led, needMixed},
		{"different mixtures of releases among them", c.mixed, needMixed},
	}
}
