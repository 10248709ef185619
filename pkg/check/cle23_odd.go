package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle23: odd content of a Lease never crashes an API server, and does not keep the
// coordinator from its work.
type cle23 struct {
	findings
	stored, elected int64
	survived        tally
	lastAt, lastSeq int64
	// alive are the servers that have answered since the last odd one.
	alive map[string]bool
}

func (c *cle23) Observe(w *World, ev *history.Event) {
	if r := ev.Request; r != nil && r.Class == history.ClassElection && r.Election == history.ElectionOdd {
		switch {
		case r.Code >= 500:
			c.infer(w, at(ev.Seq), "%s answered %d to an odd Lease: %s", ev.Member, r.Code, r.Message)
		case accepted(r):
			c.stored++
			c.lastAt, c.lastSeq, c.alive = ev.At, ev.Seq, map[string]bool{}
		}
	}
	if c.lastAt == 0 {
		return
	}
	since := time.Duration(ev.At - c.lastAt)
	if p := ev.Process; p != nil && p.Component == history.ComponentAPIServer && p.Change == history.ProcessExited && !p.Expected && since < survives*10 {
		c.infer(w, at(c.lastSeq, ev.Seq), "the API server of %s ended (%s), %s after an odd Lease was stored", ev.Member, p.Exit, since.Round(100*time.Millisecond))
	}
	if since < survives {
		return
	}
	if ev.Ready != nil && ev.Ready.Code == 200 && !c.alive[ev.Member] {
		c.alive[ev.Member] = true
		c.survived.add(w, ev.Member)
	}
	if w.elections.elects(w) != nil {
		c.elected++
	}
}

func (c *cle23) Finish(*World) {}

func (c *cle23) Observations() []Observation {
	return []Observation{
		{"odd Leases that were stored", c.stored, needOddLeases},
		{"servers that were ready afterwards" + withFewest, c.survived.least(), needHandovers},
		{"elections afterwards", c.elected, needHandovers},
	}
}
