package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// cle14: a coordinator that loses its Lease stops without ending its API server,
// and can win again. KEP-4355 wants it to stop and start again gracefully, since
// the API server must not exit.
type cle14 struct {
	findings
	lived, again int64
	// lost are the servers whose coordinator has lost its Lease by force.
	lost map[string]*lostCoordinator
}

type lostCoordinator struct {
	instance *instance
	at, seq  int64
	lived    bool
}

func newCLE14() *cle14 { return &cle14{lost: map[string]*lostCoordinator{}} }

func (c *cle14) Observe(w *World, ev *history.Event) {
	if m := w.elections.moved; m != nil && m.lease.key == coordinatorsLease && m.taken {
		if forced(m.lease.now.Holder) {
			if member := w.memberOfHost(holderOf(m.before)); member != "" && w.serves(member) {
				c.lost[member] = &lostCoordinator{instance: w.servers[member].current(), at: ev.At, seq: ev.Seq}
			}
		} else {
			c.won(w, w.memberOfHost(m.lease.now.Holder))
		}
	}
	if p := ev.Process; p != nil && p.Change == history.ProcessExited && p.Component == history.ComponentAPIServer {
		if l := c.lost[ev.Member]; l != nil {
			if !p.Expected && l.instance.number == p.Instance && time.Duration(ev.At-l.at) < noticesWithin+recorderLag {
				c.infer(w, at(l.seq, ev.Seq), "the API server of %s ended (%s), %s after its coordinator had lost its Lease", ev.Member, p.Exit, time.Duration(ev.At-l.at).Round(100*time.Millisecond))
			}
			delete(c.lost, ev.Member)
		}
	}
	for _, member := range w.order {
		if l := c.lost[member]; l != nil && !l.lived && time.Duration(ev.At-l.at) > noticesWithin {
			l.lived = true
			c.lived++
		}
	}
}

// won counts a server that coordinates again in the same process.
func (c *cle14) won(w *World, member string) {
	l := c.lost[member]
	if l == nil || w.servers[member].current() != l.instance {
		return
	}
	if !l.lived {
		c.lived++
	}
	c.again++
	delete(c.lost, member)
}

func (c *cle14) Finish(*World) {}

func (c *cle14) Observations() []Observation {
	return []Observation{
		{What: "servers that lived on after their coordinator had lost its Lease", Seen: c.lived, Need: needHandovers},
		{What: "servers that coordinated again after that", Seen: c.again, Need: needHandovers},
	}
}
