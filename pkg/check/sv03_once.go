package check

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv03: each participating server appears exactly once in each object, under
// its own ID (KEP-2339, updating StorageVersion). Two entries of one server are
// a breach in any revision; completeness is judged at the end of holds, when
// nothing is on its way.
type sv03 struct {
	findings
	entries, objects int64
	// compared counts for each member the objects of what it hosts.
	compared perMember
	probes   probes
}

func (c *sv03) Observe(w *World, ev *history.Event) {
	if name, now, ok := changedStorageVersion(ev); ok && now != nil {
		for i, e := range now.Entries {
			c.entries++
			if indexOf(now.Entries, e.ServerID) != i {
				c.violate(at(ev.Seq), "%s has more than one entry of %s at revision %d", name, e.ServerID, ev.Stored.Revision)
			}
		}
	}
	if wrong, _ := c.probes.outcome(w, ev, history.InvalidDuplicate); wrong {
		c.violate(at(ev.Seq), "%s took a status of %s in which one server has two entries", ev.Member, ev.Request.Name)
	}
	if ev.Hold != nil && ev.Hold.Phase == history.PhaseEnd {
		participants := w.participants()
		for _, name := range w.names() {
			c.judge(w, ev, w.versions[name], participants)
		}
		for _, id := range participants {
			c.absent(w, ev, id)
		}
	}
}

// absent looks for objects that a server should have an entry in and that are not
// there at all.
func (c *sv03) absent(w *World, ev *history.Event, id string) {
	srv := w.servers[w.memberOf[id]]
	if !srv.knows() || !reports(srv.current()) {
		return
	}
	for _, r := range srv.hosted {
		name := objectName(r.Group, r.Resource)
		v := w.versions[name]
		if !guardedByBarrier(r) || v != nil && (!v.deleted || repairing(w, v)) {
			continue
		}
		seq := int64(0)
		if v != nil {
			seq = v.seq
		}
		c.compared.add(w, srv.member)
		c.infer(w, at(seq, ev.Seq), "%s takes part and hosts the resource, but there is no %s at the end of hold %q", id, name, ev.Hold.Name)
	}
}

func (c *sv03) judge(w *World, ev *history.Event, v *storageVersion, participants []string) {
	known := false
	for _, id := range participants {
		srv := w.servers[w.memberOf[id]]
		if !srv.knows() || !reports(srv.current()) || !hosts(srv.hosted, v.name) {
			continue
		}
		known = true
		c.compared.add(w, srv.member)
		if indexOf(v.now.Entries, id) < 0 && !repairing(w, v) {
			c.infer(w, at(v.seq, ev.Seq), "%s takes part and hosts the resource, but has no entry in %s at the end of hold %q", id, v.name, ev.Hold.Name)
		}
	}
	if !known {
		return
	}
	c.objects++
	for _, e := range v.now.Entries {
		if !slices.Contains(participants, e.ServerID) && c.overdue(w, v, e.ServerID) {
			c.infer(w, at(v.seq, ev.Seq), "%s has an entry of %q, which has no identity Lease, at the end of hold %q", v.name, e.ServerID, ev.Hold.Name)
		}
	}
}

// reports is whether a process must have reported by now: one that is still booting may
// have to yet, and one without the StorageVersion API never does.
func reports(in *instance) bool { return in.ready != nil && !in.silent() }

// overdue is whether an entry of a server without a Lease has been there for
// longer than a collector may take that nothing hinders.
func (c *sv03) overdue(w *World, v *storageVersion, id string) bool {
	since := int64(0)
	if h := v.entries[id]; h != nil {
		since = h.last().at
	}
	if l := w.leases[id]; l != nil {
		since = max(since, l.goneAt)
	}
	return w.managers.hadTime(w.aways, w.Now, since, int64(departedEntryGoes))
}

// repairing is whether the harness changed the object so shortly ago that a
// correct control plane may not have put it right yet.
func repairing(w *World, v *storageVersion) bool {
	return v.tampered && time.Duration(w.Now-v.tamperedAt) <= tamperRepaired
}

func (c *sv03) Finish(*World) {}

func (c *sv03) doubts() []string { return c.probes.doubts() }

func (c *sv03) Observations() []Observation {
	return []Observation{
		{What: "entries in StorageVersions", Seen: c.entries, Need: needEntries},
		{What: "StorageVersions compared with the participants at the end of a hold", Seen: c.objects, Need: needEntries},
		c.compared.fewest("StorageVersions looked into for a server's entry at the end of a hold", needEntriesEach),
		c.probes.least("statuses with two entries of one server"),
	}
}
