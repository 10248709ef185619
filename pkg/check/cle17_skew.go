package check

import (
	"cmp"
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
	// needless are the last changes of leader that nobody can see a reason for, and
	// deposed those of them in which the leader was made to go.
	needless, deposed map[string]needlessChange
	// told are the Leases whose holder was told to give way.
	told map[string]bool
}

type needlessChange struct{ at, seq int64 }

func newCLE17() *cle17 {
	return &cle17{newer: map[string]*vacancy{}, needless: map[string]needlessChange{}, deposed: map[string]needlessChange{}, told: map[string]bool{}}
}

func (c *cle17) Observe(w *World, ev *history.Event) {
	e := w.elections
	for _, l := range e.coordinated() {
		c.skew(w, l, ev)
	}
	m := e.moved
	if m != nil && (m.marked || m.deleted) {
		c.told[m.lease.key] = m.marked && !c.better(e, m.lease)
	}
	if m == nil || !m.taken {
		return
	}
	told := c.told[m.lease.key] || holderOf(m.before) != "" && w.early(m) > clockTolerance
	delete(c.told, m.lease.key)
	if m.lease.now.Strategy == "" {
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
	c.flap(w, m, who, told, ev)
}

// skew notes since when a leader is newer than it should be.
func (c *cle17) skew(w *World, l *ledLease, ev *history.Event) {
	e := w.elections
	leader := e.leaderOf(l)
	var oldest *candidateSeen
	if leader != nil && leader.process != nil && l.now != nil {
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
	if !w.coordinates() || w.keysFail(leasePrefix+l.key) {
		v.since = ev.At // there is nobody who could replace it
	}
	if late := time.Duration(ev.At - v.since); !v.reported && w.held(l, ev.At) && w.overdue(ev, v.since, replacesWithin) {
		v.reported = true
		c.infer(w, at(v.seq, ev.Seq), "%s (%s) has led %s for %s, while %s (%s) was well", leader.name, leader.now.Binary, l.key, late.Round(time.Second), oldest.name, oldest.now.Binary)
	}
}

// better is whether a leader was told to give way to somebody who is better.
func (c *cle17) better(e *elections, l *ledLease) bool {
	leader, preferred := e.candidateOf(l, holderOf(l.now)), e.candidateOf(l, l.now.Preferred)
	return leader == nil || preferred == nil || preferred == leader || older(preferred, leader)
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
// have a reason that cannot be seen; two of them soon after each other are flapping, and
// so are two by which a leader was made to go while nothing else happened in between,
// however long that took. That one who has lost his Lease ends, and is started again, is
// no reason.
func (c *cle17) flap(w *World, m *leaseMove, who *candidateSeen, told bool, ev *history.Event) {
	e := w.elections
	from := cmp.Or(e.candidateOf(m.lease, m.from), e.departedOf(m.lease, m.from))
	if m.afterDeletion || from == nil || from == who || from.process == nil || older(who, from) || !c.well(w, from) && !(told && from.process.ousted()) || from.process == who.process {
		return
	}
	if time.Duration(ev.At-e.causedAt) < wellFor {
		return
	}
	change := needlessChange{ev.At, ev.Seq}
	before, again := c.needless[m.lease.key]
	again = again && time.Duration(ev.At-before.at) < flaps
	c.needless[m.lease.key] = change
	if told {
		if last, was := c.deposed[m.lease.key]; was && last.at > e.causedAt && !again {
			before, again = last, true
		}
		c.deposed[m.lease.key] = change
	}
	if again {
		c.infer(w, at(before.seq, ev.Seq), "%s went from %s (%s), which was well, to %s (%s), and had changed %s before without a reason to be seen",
			m.lease.key, from.name, from.now.Binary, who.name, who.now.Binary, time.Duration(ev.At-before.at).Round(100*time.Millisecond))
	}
}

// ousted is whether a process has ended because it was made to give its Lease up: before
// that it could have gone on.
func (p *elected) ousted() bool { return !p.alive && p.follows }

// well is whether a leader could have gone on. One that was asked a moment ago would have
// been waited for.
func (c *cle17) well(w *World, from *candidateSeen) bool {
	return w.able(from) || w.eligible(from) && time.Duration(w.Now-from.silent) < certainlyAnswered
}

func (c *cle17) Finish(*World) {}

func (c *cle17) Observations() []Observation {
	return []Observation{
		{What: "changes of leader while candidates of several releases stood", Seen: c.led, Need: needMixed},
		{What: "different mixtures of releases among them", Seen: c.mixed, Need: needMixed},
	}
}
