package check

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle12: a leader that cannot renew its Lease stops before somebody else can take
// it, and comes back as a candidate. Whether its process goes on for that or ends and
// is started again is its own affair: KEP-4355 asks for neither.
type cle12 struct {
	findings
	stopped, back int64
	// lost are leaders whose Lease has run out while they could have gone on, by the
	// name of the holder.
	lost map[string]*lostLead
	// ended are processes that have ended by themselves while they led and something
	// was in their way, by the name of the holder.
	ended map[string]*ending
}

type lostLead struct {
	lease, holder, member string
	// ended is whether its process has.
	ended bool
	// at is when somebody else took the Lease, or when it had run out, and able since when nothing keeps it from
	// being a candidate again.
	at, able, seq int64
	// over is when it ran out, and renewed when it was told to be renewed last; taken is the
	// revision at which somebody else took it then, and 0 if nobody has.
	over, renewed, taken int64
	// stopped is whether it had stopped in time.
	stopped bool
	// counted is whether it was seen to be a candidate again, or to be none; regained is
	// whether it has got the Lease again.
	counted, regained bool
}

type ending struct {
	lease   string
	at, seq int64
}

func newCLE12() *cle12 { return &cle12{lost: map[string]*lostLead{}, ended: map[string]*ending{}} }

func (c *cle12) Observe(w *World, ev *history.Event) {
	e := w.elections
	if ev.Process != nil && ev.Process.Change == history.ProcessExited {
		c.exited(w, ev)
	}
	if m := e.moved; m != nil && m.taken && m.from != "" && m.from != m.lease.now.Holder && holderOf(m.before) == m.from {
		c.ranOut(w, ev, m) // while somebody held it
	}
	if m := e.moved; m != nil && m.taken {
		if l := c.lost[m.lease.now.Holder]; l != nil && l.lease == m.lease.key {
			l.regained = true
		}
	}
	if a := e.acted; a != nil {
		// Whoever has ended is never given the Lease again: the next process has another name.
		if l := c.lost[a.Holder]; l != nil && l.lease == a.Lease && !l.regained && (l.ended || holderOf(e.leases[a.Lease].now) != a.Holder) && c.after(w, l, a) {
			c.infer(w, at(l.seq, ev.Seq), "%s acts as the leader of %s %s after it has lost the Lease", a.Holder, a.Lease, time.Duration(a.at-l.at).Round(100*time.Millisecond))
		}
	}
	for _, name := range sortedKeys(c.ended) {
		c.expired(w, ev, name)
	}
	for _, name := range sortedKeys(c.lost) {
		c.comesBack(w, ev, c.lost[name])
	}
}

// after is whether a leader has acted after its Lease had gone. In etcd everything has its
// place, so that of an action behind the Lease's loss there is no doubt; but what was
// held up on its way there may have been sent before.
func (c *cle12) after(w *World, l *lostLead, a *action) bool {
	if w.prompt(l.renewed) && (l.taken > 0 && a.revision > l.taken || ranOutBefore(a, l.over)) {
		return true
	}
	return time.Duration(a.at-l.at) > w.aways.lag(l.at, a.at)
}

// ranOutBefore is whether an action is certainly from after a Lease's end, by what others
// had written before it.
func ranOutBefore(a *action, over int64) bool {
	return time.Duration(a.after-over) > clockTolerance
}

// prompt is whether nothing that is known of has held requests up since a time: no
// process stood still, and all faults there were answer at once.
func (w *World) prompt(since int64) bool {
	return w.elections.stalledAt < since && !slices.ContainsFunc(w.faults, func(f *FaultSeen) bool {
		if f.Healed && f.healedAt < since {
			return false
		}
		switch f.Type {
		case history.FaultAdmission:
			return false
		case history.FaultHTTP:
			return f.Action == history.FaultHTTPDelay
		case history.FaultKeys:
			return f.Action != history.FaultKeysFail
		}
		return f.Action != history.FaultContainerKill
	})
}

// expired looks at a leader that has ended its process and whose Lease runs out: it
// could be taken from now on, whether somebody does or not.
func (c *cle12) expired(w *World, ev *history.Event, holder string) {
	end := c.ended[holder]
	l := w.elections.leases[end.lease]
	if l == nil || holderOf(l.now) != holder {
		return // somebody else has it, or nobody
	}
	over := w.expires(l.now)
	if ev.At <= over {
		return
	}
	delete(c.ended, holder)
	if end.at > over || !w.elections.tellsActions(l) {
		return
	}
	c.lost[holder] = &lostLead{lease: l.key, holder: holder, member: w.memberOfHost(holder), ended: true, stopped: true, at: ev.At, able: ev.At, seq: ev.Seq, over: over, renewed: l.at}
	c.stopped++
}

// exited follows the ends of processes.
func (c *cle12) exited(w *World, ev *history.Event) {
	for _, name := range sortedKeys(c.lost) {
		if l := c.lost[name]; l.member == ev.Member && componentOf(l.lease) == ev.Process.Component && !l.counted {
			delete(c.lost, name)
		}
	}
	if !gaveUp(ev.Process) {
		return
	}
	for _, l := range w.elections.leases {
		if holder := holderOf(l.now); holder != "" && w.memberOfHost(holder) == ev.Member && componentOf(l.key) == ev.Process.Component && w.hindered(ev.Member, l.key) {
			c.ended[holder] = &ending{lease: l.key, at: ev.At, seq: ev.Seq}
		}
	}
}

// hindered is whether a fault may keep the instance at a member from renewing a Lease. A
// leader that gives up beside a fault of something else was told to, or has its own
// reasons.
func (w *World) hindered(member, lease string) bool {
	return slices.ContainsFunc(w.faults, func(f *FaultSeen) bool {
		switch {
		case f.Healed:
			return false
		case f.Type == history.FaultAdmission:
			return f.about(leasePrefix + lease) // everywhere
		case f.Member != member:
			return false
		case f.Type == history.FaultKeys:
			return f.about(leasePrefix + lease)
		}
		return f.Component == "" || f.Component == history.ComponentAPIServer || f.Component == componentOf(lease)
	})
}

// ranOut looks at a holder whose Lease somebody else has taken.
func (c *cle12) ranOut(w *World, ev *history.Event, m *leaseMove) {
	member := w.memberOfHost(m.from)
	p, over := w.elections.processes[member+"/"+componentOf(m.lease.key)], w.expires(m.before)
	end := c.ended[m.from]
	delete(c.ended, m.from)
	stayed := p != nil && p.alive && !p.paused && p.startedAt < m.beforeAt
	left := end != nil && end.at >= m.beforeAt && end.at <= over
	if !stayed && !left || !w.elections.tellsActions(m.lease) {
		return
	}
	lost := &lostLead{lease: m.lease.key, holder: m.from, member: member, ended: left, at: ev.At, able: ev.At, seq: ev.Seq, over: over, renewed: m.beforeAt}
	if w.early(m) <= clockTolerance { // or else it may not know yet
		lost.taken = m.lease.revision
	}
	c.lost[m.from] = lost
	switch last := m.lease.actors[m.from]; {
	case last == nil:
	case w.prompt(m.beforeAt) && ranOutBefore(last, over), last.at > over && time.Duration(last.at-over) > w.aways.lag(over, last.at):
		c.infer(w, at(m.beforeSeq, last.seq, ev.Seq), "%s acted as the leader of %s %s after its Lease had run out", m.from, m.lease.key, time.Duration(last.at-over).Round(100*time.Millisecond))
	case last.at > over+int64(recorderLag): // whether it had stopped is not known
	case w.early(m) <= clockTolerance: // or else it was taken from it, and had not run out
		c.stopped++
		lost.stopped = true
	}
}

// comesBack waits until a leader that has lost its Lease is a candidate.
func (c *cle12) comesBack(w *World, ev *history.Event, l *lostLead) {
	if l.counted {
		return
	}
	e := w.elections
	p := e.processes[l.member+"/"+componentOf(l.lease)]
	k := e.candidateOf(e.leases[l.lease], l.holder)
	if l.ended {
		k = e.candidateBy(e.leases[l.lease], p)
	}
	switch {
	case w.faulty(l.member) || !w.serves(l.member) || p == nil || !p.alive:
		l.able = ev.At // it cannot do anything yet
	case w.healthy(k) && (k.renewed > l.able || l.ended):
		l.counted = true
		if l.stopped {
			c.back++
		}
	case k == nil && w.overdue(ev, l.able, declaresWithin):
		l.counted = true
		c.infer(w, at(l.seq, ev.Seq), "%s has lost %s, its process runs, and it is no candidate any more", l.holder, l.lease)
	}
}

// gaveUp is whether a process has ended by itself, and not because it was asked or made
// to. Where it was not seen how it ended, the harness knows what it did itself.
func gaveUp(p *history.Process) bool {
	failed := strings.HasPrefix(p.Exit, "exit status ") && p.Exit != "exit status 0"
	return !p.Expected && (failed || p.Exit == history.ExitUnseen)
}

// tellsActions is whether those who lead by a Lease tell what they do.
func (e *elections) tellsActions(l *ledLease) bool { return len(l.actors) > 0 }

func (c *cle12) Finish(*World) {}

func (c *cle12) Observations() []Observation {
	return []Observation{
		{What: "leaders that could not renew and had stopped when their Lease ran out", Seen: c.stopped, Need: needHandovers},
		{What: "of those, leaders that were candidates again", Seen: c.back, Need: needHandovers},
	}
}
