package check

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv09: updates use the revision that was read, so that servers which start
// together lose no entry (KEP-2339, updating StorageVersion). A server's own
// update changes its own entry and no other one. A lost update shows as a
// write that brings the entry of one server and drops that of another which
// takes part, or puts an older one in its place.
type sv09 struct {
	findings
	concurrent int64
	last       map[string]reported
	first      map[string][]firstEntry
}

// reported is what an object had at its last revision.
type reported struct {
	revision int64
	content  *history.StorageVersion
}

// firstEntry is what a process wrote of its server in an object.
type firstEntry struct {
	process      *instance
	at, revision int64
	counted      bool
}

func newSV09() *sv09 {
	return &sv09{last: map[string]reported{}, first: map[string][]firstEntry{}}
}

func (c *sv09) Observe(w *World, ev *history.Event) {
	name, now, ok := changedStorageVersion(ev)
	if !ok {
		return
	}
	if now == nil {
		delete(c.last, name)
		delete(c.first, name)
		return
	}
	before, known := c.last[name]
	c.last[name] = reported{ev.Stored.Revision, now}
	if !known {
		return // nothing was there that could have been lost
	}
	var writers []string
	for i, e := range now.Entries {
		if indexOf(now.Entries, e.ServerID) != i {
			continue
		}
		if j := indexOf(before.content.Entries, e.ServerID); j < 0 || !sameEntry(before.content.Entries[j], e) {
			writers = append(writers, e.ServerID)
			c.arrive(w, ev, e.ServerID)
		}
	}
	if len(writers) == 0 {
		return // a collector's write, or one of what is agreed alone
	}
	if len(writers) > 1 {
		c.infer(w, at(ev.Seq), "revision %d of %s changed the entries of %s at once, of which at most one is the writer's own",
			ev.Stored.Revision, name, strings.Join(writers, " and "))
	}
	for _, old := range before.content.Entries {
		// The writer may take out who does not take part, but it read the
		// object before the participants: whoever joined by the revision that it
		// read was among those.
		if indexOf(now.Entries, old.ServerID) < 0 && w.participatedThrough(old.ServerID, before.revision, ev.Stored.Revision) {
			c.infer(w, at(ev.Seq), "revision %d of %s brought the entry of %s and lost that of %s, which takes part",
				ev.Stored.Revision, name, writers[0], old.ServerID)
		}
	}
}

// arrive counts entries that two servers wrote while both were starting: the
// process that wrote later had started before the other one wrote, so that it
// could have read the object without that entry. How long that took on a busy
// machine does not matter.
func (c *sv09) arrive(w *World, ev *history.Event, serverID string) {
	in := w.servers[w.memberOf[serverID]].current()
	if in == nil || ev.Stored.Revision <= in.startRevision {
		return
	}
	name := ev.Stored.Name
	list := slices.DeleteFunc(c.first[name], func(f firstEntry) bool { return f.process.server == in.server })
	for i := range list {
		f := &list[i]
		starting := f.process.ready == nil || f.process.ready.at > f.at
		if !f.counted && starting && in.startedAt < f.at && in.startRevision < f.revision {
			f.counted = true
			c.concurrent++
		}
	}
	c.first[name] = append(list, firstEntry{process: in, at: ev.At, revision: ev.Stored.Revision})
}

func (c *sv09) Finish(*World) {}

func (c *sv09) Observations() []Observation {
	return []Observation{{What: "entries that a server wrote to an object while another one was starting to do so", Seen: c.concurrent, Need: needConcurrentObjects}}
}
