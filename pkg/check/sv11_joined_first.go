package check

import "github.com/evenkeel/evenkeel/pkg/history"

// sv11: a server joins the list of participants before its first entry
// (KEP-2339, garbage collection): the identity Lease is there, and older, at
// every revision that brings an entry of a server.
type sv11 struct {
	findings
	joins int64
	last  map[string]map[string]bool
}

func (c *sv11) Observe(w *World, ev *history.Event) {
	if ev.Stored == nil || ev.Stored.StorageVersion == nil {
		return
	}
	if c.last == nil {
		c.last = map[string]map[string]bool{}
	}
	name, now := ev.Stored.Name, map[string]bool{}
	for _, e := range ev.Stored.StorageVersion.Entries {
		now[e.ServerID] = true
		if c.last[name][e.ServerID] {
			continue
		}
		c.joins++
		if !w.participates(e.ServerID, ev.Stored.Revision) {
			c.violate(at(ev.Seq), "%s got an entry of %s at revision %d, when that server had no identity Lease", name, e.ServerID, ev.Stored.Revision)
		}
	}
	c.last[name] = now
}

func (c *sv11) Finish(*World) {}

func (c *sv11) Observations() []Observation {
	return []Observation{{"entries that appeared", c.joins, needJoins}}
}
