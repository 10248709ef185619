package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv03: each participating server appears exactly once in each object, under
// its own ID (KEP-2339, updating StorageVersion). Two entries of one server are
// a breach in any revision; completeness is judged at the end of holds, when
// nothing is on its way.
type sv03 struct {
	findings
	entries, objects int64
}

func (c *sv03) Observe(w *World, ev *history.Event) {
	switch {
	case ev.Stored != nil && ev.Stored.StorageVersion != nil:
		seen := map[string]bool{}
		for _, e := range ev.Stored.StorageVersion.Entries {
			c.entries++
			if seen[e.ServerID] {
				c.violate(at(ev.Seq), "%s has more than one entry of %s at revision %d", ev.Stored.Name, e.ServerID, ev.Stored.Revision)
			}
			seen[e.ServerID] = true
		}
	case ev.Hold != nil && ev.Hold.Phase == history.PhaseEnd:
		c.judgeHold(w, ev)
	case ev.Request != nil && ev.Request.Class == history.ClassInvalid && ev.Request.Invalid == history.InvalidDuplicate:
		if accepted(ev.Request) {
			c.violate(at(ev.Seq), "%s took a status of %s in which one server has two entries", ev.Member, ev.Request.Name)
		}
	}
}

func (c *sv03) judgeHold(w *World, ev *history.Event) {
	participants := w.participants()
	for name, v := range w.versions {
		if v.deleted {
			continue
		}
		var want []string
		known := false
		for _, id := range participants {
			srv := w.servers[w.memberOf[id]]
			if srv == nil || len(srv.hosted) == 0 {
				continue
			}
			for _, r := range srv.hosted {
				if guardedByBarrier(r) && objectName(r.Group, r.Resource) == name {
					want = append(want, id)
					known = true
				}
			}
		}
		if !known {
			continue
		}
		c.objects++
		for _, id := range want {
			if !slices.ContainsFunc(v.now.Entries, func(e history.Entry) bool { return e.ServerID == id }) {
				c.violate(at(v.seq, ev.Seq), "%s takes part and hosts the resource, but has no entry in %s at the end of hold %q", id, name, ev.Hold.Name)
			}
		}
		for _, e := range v.now.Entries {
			if !slices.Contains(participants, e.ServerID) {
				c.violate(at(v.seq, ev.Seq), "%s has an entry of %q, which has no identity Lease, at the end of hold %q", name, e.ServerID, ev.Hold.Name)
			}
		}
	}
}

func (c *sv03) Finish(*World) {}

func (c *sv03) Observations() []Observation {
	return []Observation{
		{"entries in StorageVersions", c.entries, needEntries},
		{"StorageVersions compared with the participants at the end of a hold", c.objects, needEntries},
	}
}

// accepted is whether a server took what was sent.
func accepted(r *history.Request) bool { return r.Code >= 200 && r.Code < 300 }

// refused is whether a server found what was sent to be invalid.
func refused(r *history.Request) bool { return r.Code == 422 }
