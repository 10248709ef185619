package check

import "github.com/evenkeel/evenkeel/pkg/history"

// cle10: two instances never act as leader at once. It is judged by what leaders do
// and not by their Leases.
type cle10 struct {
	findings
	actors
	changes, outlived int64
	// stuck are leaders that were alive when somebody else began to act.
	stuck once
}

func newCLE10() *cle10 { return &cle10{actors: newActors()} }

func (c *cle10) Observe(w *World, ev *history.Event) {
	a := w.elections.acted
	switch what, other := c.follow(w, ev); what {
	case actsBeside:
		c.infer(w, at(other.seq, ev.Seq), "%s acted as the leader of %s%s, and %s, who took the Lease later%s, had acted before",
			a.Holder, a.Lease, a.term(), other.Holder, other.term())
	case actsAround:
		c.infer(w, at(other.seq, ev.Seq), "%s acted as the leader of %s, and %s, who has never had the Lease, had acted since it took it", a.Holder, a.Lease, other.Holder)
	case actsAfter:
		c.changes++
		c.alive(w, other)
	}
}

// alive counts a leader that was there when another one began to act, and whose
// Lease was taken because it could not renew it.
func (c *cle10) alive(w *World, before *action) {
	member := w.memberOfHost(before.Holder)
	p := w.elections.processes[member+"/"+componentOf(before.Lease)]
	if p == nil || !p.alive || p.startedAt > before.at || !p.paused && !w.faulty(member) {
		return
	}
	if c.stuck.first(before.Lease + " " + before.Holder) {
		c.outlived++
	}
}

func (c *cle10) Finish(*World) {}

func (c *cle10) Observations() []Observation {
	return []Observation{
		{What: "changes of who acts as the leader", Seen: c.changes, Need: needActorChanges},
		{What: "of those, changes while the one before was alive and could not renew", Seen: c.outlived, Need: needOutlived},
	}
}
