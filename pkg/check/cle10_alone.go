package check

import "github.com/evenkeel/evenkeel/pkg/history"

// cle10: two instances never act as leader at once. It is judged by what leaders do
// and not by their Leases: once somebody who took the Lease later has acted, nobody
// who took it before acts any more.
type cle10 struct {
	findings
	changes, outlived int64
	// front is, for each Lease, the action of who took it last of those that acted.
	front map[string]*action
	taken map[string]int64
	// stuck are leaders that were alive when somebody else began to act.
	stuck once
}

func newCLE10() *cle10 { return &cle10{front: map[string]*action{}, taken: map[string]int64{}} }

func (c *cle10) Observe(w *World, ev *history.Event) {
	e := w.elections
	if m := e.moved; m != nil && m.deleted {
		// Who deletes a Lease lets everybody go at once; what follows is no breach of
		// those who lead.
		delete(c.front, m.lease.key)
	}
	a := e.acted
	if a == nil {
		return
	}
	l := e.leases[a.Lease]
	took, known := l.takenAt[a.Holder]
	if !known {
		return
	}
	front := c.front[a.Lease]
	switch {
	case front == nil:
	case front.Holder == a.Holder:
	case took < c.taken[a.Lease]:
		c.infer(w, at(front.seq, ev.Seq), "%s acted as the leader of %s (term %d), and %s, who took the Lease later (term %d), had acted before",
			a.Holder, a.Lease, a.Term, front.Holder, front.Term)
		return
	default:
		c.changes++
		c.alive(w, front)
	}
	c.front[a.Lease], c.taken[a.Lease] = a, took
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
		{"changes of who acts as the leader", c.changes, needActorChanges},
		{"of those, changes while the one before was alive and could not renew", c.outlived, needOutlived},
	}
}
