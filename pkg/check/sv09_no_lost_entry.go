package check

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv09: updates use the revision that was read, so that servers which start
// together lose no entry (KEP-2339, updating StorageVersion). A lost update
// shows as a write that brings or changes the entry of one server and drops
// that of another which takes part.
type sv09 struct {
	findings
	concurrent int64
	last       map[string]*history.StorageVersion
	first      map[string][]firstEntry
}

// firstEntry is the arrival of a server in an object.
type firstEntry struct {
	server  string
	at      int64
	counted bool
}

func (c *sv09) Observe(w *World, ev *history.Event) {
	if ev.Stored == nil {
		return
	}
	name, now := ev.Stored.Name, ev.Stored.StorageVersion
	if now == nil {
		if ev.Stored.Type == history.StoredDelete {
			delete(c.last, name)
			delete(c.first, name)
		}
		return
	}
	before := c.last[name]
	c.last[name] = now
	if before == nil {
		before = &history.StorageVersion{}
	}
	for _, e := range now.Entries {
		if i := indexOf(before.Entries, e.ServerID); i < 0 || !sameEntry(before.Entries[i], e) {
			c.arrive(name, e.ServerID, ev.At)
			c.dropped(w, ev, before, now, e.ServerID)
		}
	}
}

// dropped reports participants that the write of one server left out.
func (c *sv09) dropped(w *World, ev *history.Event, before, now *history.StorageVersion, writer string) {
	for _, old := range before.Entries {
		if old.ServerID != writer && indexOf(now.Entries, old.ServerID) < 0 && w.participates(old.ServerID, ev.Stored.Revision) {
			c.violate(at(ev.Seq), "revision %d of %s brought the entry of %s and lost that of %s, which takes part",
				ev.Stored.Revision, ev.Stored.Name, writer, old.ServerID)
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

func indexOf(entries []history.Entry, id string) int {
	return slices.IndexFunc(entries, func(e history.Entry) bool { return e.ServerID == id })
}

func (c *sv09) Finish(*World) {}

func (c *sv09) Observations() []Observation {
	return []Observation{{"entries that two servers wrote to one object at about the same time", c.concurrent, needConcurrentObjects}}
}
