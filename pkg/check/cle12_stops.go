package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle12: a leader that cannot renew its Lease stops before somebody else can take
// it, and comes back as a candidate without its process having to end. KEP-4355 has
// it shut down and start again as a candidate.
type cle12 struct {
	findings
	stopped, back int64
	// lost are leaders whose Lease has run out while they were alive, by the name of
	// the holder.
	lost map[string]*lostLead
}

type lostLead struct {
	lease   string
	holder  string
	process *elected
	at, seq int64
	counted bool
}

func newCLE12() *cle12 { return &cle12{lost: map[string]*lostLead{}} }

func (c *cle12) Observe(w *World, ev *history.Event) {
	e := w.elections
	if m := e.moved; m != nil && m.taken && m.from != "" && m.from != m.lease.now.Holder && holderOf(m.before) == m.from {
		// It ran out while somebody held it.
		member := w.memberOfHost(m.from)
		p := e.processes[member+"/"+componentOf(m.lease.key)]
		if p != nil && p.alive && !p.paused && p.startedAt < m.beforeAt && e.tellsActions(m.lease) {
			c.lost[m.from] = &lostLead{lease: m.lease.key, holder: m.from, process: p, at: ev.At, seq: ev.Seq}
			last := m.lease.actors[m.from]
			over := w.expires(m.before)
			switch {
			case last == nil:
			case last.at > over+int64(recorderLag):
				c.infer(w, at(m.beforeSeq, last.seq, ev.Seq), "%s acted as the leader of %s %s after its Lease had run out", m.from, m.lease.key, time.Duration(last.at-over).Round(100*time.Millisecond))
			default:
				c.stopped++
			}
		}
	}
	if a := e.acted; a != nil {
		if l := c.lost[a.Holder]; l != nil && l.lease == a.Lease && holderOf(e.leases[a.Lease].now) != a.Holder && a.at > l.at+int64(recorderLag) {
			c.infer(w, at(l.seq, ev.Seq), "%s acts as the leader of %s %s after somebody else has taken the Lease", a.Holder, a.Lease, time.Duration(a.at-l.at).Round(100*time.Millisecond))
		}
	}
	if ev.Process != nil && ev.Process.Change == history.ProcessExited {
		for _, name := range sortedKeys(c.lost) {
			if l := c.lost[name]; l.process.member == ev.Member && l.process.component == ev.Process.Component && !l.counted {
				delete(c.lost, name)
			}
		}
	}
	for _, name := range sortedKeys(c.lost) {
		l := c.lost[name]
		k := e.candidateOf(e.leases[l.lease], l.holder)
		switch {
		case l.counted:
		case w.faulty(l.process.member) || !w.serves(l.process.member):
			l.at = max(l.at, ev.At) // it cannot do anything yet
		case w.healthy(k) && k.renewed > l.at:
			l.counted = true
			c.back++
		case k == nil && time.Duration(ev.At-l.at) > declaresWithin:
			l.counted = true
			c.infer(w, at(l.seq, ev.Seq), "%s has lost %s, its process runs, and it is no candidate any more", l.holder, l.lease)
		}
	}
}

// tellsActions is whether those who lead by a Lease tell what they do.
func (e *elections) tellsActions(l *ledLease) bool { return len(l.actors) > 0 }

func (c *cle12) Finish(*World) {}

func (c *cle12) Observations() []Observation {
	return []Observation{
		{"leaders that could not renew and had stopped when their Lease ran out", c.stopped, needHandovers},
		{"of those, leaders that were candidates again in the same process", c.back, needHandovers},
	}
}
