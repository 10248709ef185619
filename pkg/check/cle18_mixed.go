package check

import "github.com/evenkeel/evenkeel/pkg/history"

// cle18: instances can be moved to coordination and back one by one. KEP-4355 has
// those with it and those without share the Lease, and so nobody may act beside a
// leader of the other sort.
type cle18 struct {
	findings
	actors
	toCoordinated, toLegacy int64
	// coordinated is, for each Lease, who has taken it, and whether the Lease said then
	// that it is coordinated.
	coordinated map[string]map[string]bool
}

func newCLE18() *cle18 {
	return &cle18{actors: newActors(), coordinated: map[string]map[string]bool{}}
}

func (c *cle18) Observe(w *World, ev *history.Event) {
	e := w.elections
	if m := e.moved; m != nil && m.taken {
		if c.coordinated[m.lease.key] == nil {
			c.coordinated[m.lease.key] = map[string]bool{}
		}
		c.coordinated[m.lease.key][m.lease.now.Holder] = m.lease.now.Strategy != ""
	}
	a := e.acted
	switch what, other := c.follow(w, ev); what {
	case actsBeside:
		c.infer(w, at(other.seq, ev.Seq), "%s acted as the leader of %s %s, and %s, who took the Lease later %s, had acted before",
			a.Holder, a.Lease, c.how(a), other.Holder, c.how(other))
	case actsAround:
		c.infer(w, at(other.seq, ev.Seq), "%s acted as the leader of %s %s, and %s, who has never had the Lease, had acted since it took it", a.Holder, a.Lease, c.how(a), other.Holder)
	case actsAfter:
		switch before, now := c.coordinated[a.Lease][other.Holder], c.coordinated[a.Lease][a.Holder]; {
		case !before && now:
			c.toCoordinated++
		case before && !now:
			c.toLegacy++
		}
	}
}

// how is how an actor took its Lease.
func (c *cle18) how(a *action) string {
	if c.coordinated[a.Lease][a.Holder] {
		return "by coordination"
	}
	return "without coordination"
}

func (c *cle18) Finish(*World) {}

func (c *cle18) Observations() []Observation {
	return []Observation{
		{What: "changes of who acts from one without coordination to one with it", Seen: c.toCoordinated, Need: needHandovers},
		{What: "changes of who acts from one with coordination to one without it", Seen: c.toLegacy, Need: needHandovers},
	}
}
