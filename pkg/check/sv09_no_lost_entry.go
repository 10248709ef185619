package check

import (
	"slices"
	"strings"
	"time"

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

// firstEntry is the arrival of a server in an object.
type firstEntry struct {
	server  string
	at      int64
	counted bool
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
			c.arrive(name, e.ServerID, ev.At)
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

// arrive counts objects in which servers wrote close to each other.
func (c *sv09) arrive(name, server string, now int64) {
	list := c.first[name]
	for i := range list {
		if list[i].server != server && !list[i].counted && time.Duration(now-list[i].at) <= concurrencyWindow {
			list[i].counted = true
			c.concurrent++
		}
	}
	list = slices.DeleteFunc(list, func(f firstEntry) bool {
		return f.server == server || time.Duration(now-f.at) > concurrencyWindow
	})
	c.first[name] = append(list, firstEntry{server: server, at: now})
}

func (c *sv09) Finish(*World) {}

func (c *sv09) Observations() []Observation {
	return []Observation{{"entries that two servers wrote to one object at about the same time", c.concurrent, needConcurrentObjects}}
}
