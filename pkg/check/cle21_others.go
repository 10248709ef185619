package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle21: for a strategy of somebody else the coordinator makes the Lease without a
// holder, and never gives it one; a holder that somebody else has given it stays.
type cle21 struct {
	findings
	made, kept int64
	// given are the Leases that somebody else has given a holder.
	given map[string]*gift
	// deletions are those of such Leases.
	deletions deletions
}

// gift is a holder that somebody else has given to a Lease.
type gift struct {
	at int64
	// kept is whether it was seen to stay.
	kept bool
}

func newCLE21() *cle21 { return &cle21{given: map[string]*gift{}} }

func (c *cle21) Observe(w *World, ev *history.Event) {
	e := w.elections
	m := e.moved
	c.deletions.take(w, ev, m != nil && c.given[m.lease.key] != nil && c.others(e, m.lease))
	for _, d := range c.deletions.unasked(w) {
		c.infer(w, at(d.seq), "%s was deleted, which somebody else had given a holder", d.lease)
	}
	if m != nil && m.deleted {
		delete(c.given, m.lease.key)
	}
	if m != nil && m.lease.now != nil && c.others(e, m.lease) {
		l := m.lease
		given := c.given[l.key]
		switch {
		case m.taken && l.now.Holder == history.ElectionThirdParty:
			c.given[l.key] = &gift{at: ev.At}
		case m.taken:
			c.infer(w, at(m.beforeSeq, ev.Seq), "%s was given to %s, and its candidates want a strategy that no coordinator knows", l.key, l.now.Holder)
			delete(c.given, l.key)
		case given != nil && (m.marked || m.released):
			c.infer(w, at(m.beforeSeq, ev.Seq), "%s was taken from the holder that somebody else had given it", l.key)
			delete(c.given, l.key)
		case m.before == nil && l.now.Strategy != "" && l.now.Strategy != byOldest:
			c.made++
		}
	}
	for _, l := range e.sorted(func(l *ledLease) bool { return c.given[l.key] != nil }) {
		given := c.given[l.key]
		if !given.kept && time.Duration(ev.At-given.at) > leftAlone && holderOf(l.now) == history.ElectionThirdParty && l.now.Preferred == "" {
			given.kept = true // and is looked at further on
			c.kept++
		}
	}
}

// others is whether all candidates of a Lease want a strategy of somebody else.
func (c *cle21) others(e *elections, l *ledLease) bool {
	all := e.of(l.key)
	for _, k := range all {
		if k.now.Strategy == byOldest {
			return false
		}
	}
	return len(all) > 0
}

func (c *cle21) Finish(*World) {}

func (c *cle21) Observations() []Observation {
	return []Observation{
		{What: "Leases made without a holder for a strategy of somebody else", Seen: c.made, Need: needHandovers},
		{What: "holders that somebody else had given and that stayed", Seen: c.kept, Need: needHandovers},
	}
}
