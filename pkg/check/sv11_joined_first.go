package check

import "github.com/evenkeel/evenkeel/pkg/history"

// sv11: a server joins the list of participants before its first entry
// (KEP-2339, garbage collection): the identity Lease is there, and older, at
// every revision that brings an entry of a server, and at the first by which a
// restarted one changes what the process before it had left.
type sv11 struct {
	findings
	joins int64
	each  perMember
	last  map[string][]history.Entry
	// strangers are entries of servers that are no members and have no Lease:
	// anybody may have made them up, unless such a server joins later.
	strangers map[string]int64
}

func newSV11() *sv11 { return &sv11{last: map[string][]history.Entry{}, strangers: map[string]int64{}} }

// maxStrangers bounds how many made-up servers are remembered.
const maxStrangers = 256

func (c *sv11) Observe(w *World, ev *history.Event) {
	c.lateJoin(w, ev)
	name, now, ok := changedStorageVersion(ev)
	if !ok {
		return
	}
	if now == nil {
		delete(c.last, name)
		return
	}
	before := c.last[name]
	c.last[name] = now.Entries
	for i, e := range now.Entries {
		if indexOf(now.Entries, e.ServerID) != i {
			continue
		}
		switch j := indexOf(before, e.ServerID); {
		case j < 0:
			c.joins++
			c.each.add(w, w.memberOf[e.ServerID])
		case sameEntry(before[j], e) || !w.announces(e.ServerID, name, ev.Stored.Revision):
			continue
		}
		switch {
		case w.participates(e.ServerID, ev.Stored.Revision):
		case w.memberOf[e.ServerID] != "":
			c.infer(w, at(ev.Seq), "%s got an entry of %s at revision %d, when that server had no identity Lease", name, e.ServerID, ev.Stored.Revision)
		case len(c.strangers) < maxStrangers:
			c.strangers[e.ServerID] = ev.Seq
		}
	}
}

// announces is whether the change of an entry that made a revision is the first one
// in the life of its server's process.
func (w *World) announces(id, name string, revision int64) bool {
	in := w.servers[w.memberOf[id]].current()
	if in == nil || revision <= in.startRevision {
		return false
	}
	before, ok := w.changeAt(name, id, revision-1)
	return ok && before.revision <= in.startRevision
}

// lateJoin looks at a server that gets its Lease while an entry is there which
// it had before.
func (c *sv11) lateJoin(w *World, ev *history.Event) {
	if len(c.strangers) == 0 || !joinedOrLeft(ev) || ev.Stored.Type != history.StoredPut {
		return
	}
	id := ev.Stored.Key[len(identityLeasePrefix):]
	seq := c.strangers[id]
	if seq == 0 || !w.participates(id, ev.Stored.Revision) {
		return
	}
	delete(c.strangers, id)
	for _, entries := range c.last {
		if indexOf(entries, id) >= 0 {
			c.infer(w, at(seq, ev.Seq), "%s got its identity Lease at revision %d, and had an entry before", id, ev.Stored.Revision)
			return
		}
	}
}

func (c *sv11) Finish(*World) {}

func (c *sv11) Observations() []Observation {
	return []Observation{
		{What: "entries that appeared", Seen: c.joins, Need: needJoins},
		c.each.fewest("entries that appeared", needJoinsEach),
	}
}
