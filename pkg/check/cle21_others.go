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
	given map[string]int64
}

func newCLE21() *cle21 { return &cle21{given: map[string]int64{}} }

func (c *cle21) Observe(w *World, ev *history.Event) {
	e := w.elections
	if m := e.moved; m != nil && m.lease.now != nil && c.others(e, m.lease) {
		l := m.lease
		_, was := c.given[l.key]
		switch {
		case m.taken && l.now.Holder == history.ElectionThirdParty:
			c.given[l.key] = ev.At
		case m.taken:
			c.infer(w, at(m.beforeSeq, ev.Seq), "%s was given to %s, and its candidates want a strategy that no coordinator knows", l.key, l.now.Holder)
		case was && (m.marked || m.released):
			c.infer(w, at(m.beforeSeq, ev.Seq), "%s was taken from the holder that somebody else had given it", l.key)
			delete(c.given, l.key)
		case m.before == nil && l.now.Strategy != "" && l.now.Strategy != byOldest:
			c.made++
		}
	}
	for _, l := range e.sorted(func(l *ledLease) bool { return c.given[l.key] > 0 }) {
		if time.Duration(ev.At-c.given[l.key]) > leftAlone && holderOf(l.now) == history.ElectionThirdParty && l.now.Preferred == "" {
			c.kept++
			delete(c.given, l.key)
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
		{"Leases made without a holder for a strategy of somebody else", c.made, needHandovers},
		{"holders that somebody else had given and that stayed", c.kept, needHandovers},
	}
}
