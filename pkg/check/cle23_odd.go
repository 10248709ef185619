package check

import (
	"net/http"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle23: odd content of a Lease never crashes an API server, and does not keep the
// coordinator from its work.
type cle23 struct {
	findings
	stored, dealt, elected int64
	survived               tally
	// odd are the Leases with odd content that no coordinator has touched since, with the
	// revision of that; and touched are the revisions at which one has touched a Lease.
	odd, touched    map[string]int64
	lastAt, lastSeq int64
	// alive are the servers that have answered since the last odd one.
	alive map[string]bool
}

func newCLE23() *cle23 { return &cle23{odd: map[string]int64{}, touched: map[string]int64{}} }

func (c *cle23) Observe(w *World, ev *history.Event) {
	if r := ev.Request; r != nil && r.Class == history.ClassElection && r.Election == history.ElectionOdd {
		switch {
		case broken(r):
			c.infer(w, at(ev.Seq), "%s answered %d to an odd Lease: %s", ev.Member, r.Code, r.Message)
		case accepted(r):
			c.stored++
			c.lastAt, c.lastSeq, c.alive = ev.At, ev.Seq, map[string]bool{}
			if r.ResourceVersion > 0 {
				c.odd[r.Name] = r.ResourceVersion
				c.deal(r.Name)
			}
		}
	}
	if m := w.elections.moved; m != nil && (m.marked || m.taken && w.elections.byCoordinator(m.lease.now)) {
		c.touched[m.lease.key] = m.lease.revision
		c.deal(m.lease.key)
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

// broken is whether a server answered that it has failed. That it is too busy, that it took
// too long, or that its etcd had trouble says nothing of what it was asked.
func broken(r *history.Request) bool {
	switch r.Code {
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return r.Code >= http.StatusInternalServerError && !strings.Contains(r.Message, "etcdserver: ")
}

// deal counts an odd Lease that a coordinator has touched. Which of the two is recorded
// first is a matter of chance.
func (c *cle23) deal(lease string) {
	if at, odd := c.odd[lease]; odd && c.touched[lease] > at {
		delete(c.odd, lease)
		c.dealt++
	}
}

func (c *cle23) Finish(*World) {}

func (c *cle23) Observations() []Observation {
	return []Observation{
		{What: "odd Leases that were stored", Seen: c.stored, Need: needOddLeases},
		{What: "of those, Leases that a coordinator did something about", Seen: c.dealt, Need: needOddLeases},
		{What: "servers that were ready afterwards" + withFewest, Seen: c.survived.least(), Need: needHandovers},
		{What: "elections afterwards", Seen: c.elected, Need: needHandovers},
	}
}
