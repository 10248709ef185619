package check

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv18: an object that has no entry left is removed (KEP-2339, garbage
// collection). What has never had one does not count: whoever made it may be
// about to report. An object that has nothing but stale entries may be removed
// as it is; that these must go is SV-16's.
type sv18 struct {
	findings
	// last is what each object had at its last revision, and empty since when
	// objects have had no entry, of those that had some.
	last  map[string][]history.Entry
	empty map[string]since
	next  int64

	removed byObject
	emptied int64
}

func newSV18() *sv18 {
	return &sv18{last: map[string][]history.Entry{}, empty: map[string]since{}, removed: byObject{}}
}

func (c *sv18) Observe(w *World, ev *history.Event) {
	if name, now, ok := changedStorageVersion(ev); ok {
		c.changed(w, ev, name, now)
	}
	if ev.Stored != nil && len(c.empty) > 0 && ev.At >= c.next {
		c.expire(w, ev.At)
	}
}

func (c *sv18) changed(w *World, ev *history.Event, name string, now *history.StorageVersion) {
	before := c.last[name]
	emptied, empty := c.empty[name]
	if now == nil {
		takesPart := func(e history.Entry) bool { return w.takesPart(e.ServerID) }
		if empty && w.managers.inTime(w.Now, emptied.at, int64(departedEntryGoes+recorderLag)) || len(before) > 0 && !slices.ContainsFunc(before, takesPart) {
			c.removed.add(name)
		}
		delete(c.last, name)
		delete(c.empty, name)
		return
	}
	c.last[name] = now.Entries
	switch {
	case len(now.Entries) > 0:
		delete(c.empty, name)
	case len(before) > 0:
		c.empty[name] = since{at: ev.At, seq: ev.Seq}
		c.next = ev.At
	}
}

func (c *sv18) expire(w *World, now int64) {
	const bound = int64(departedEntryGoes + recorderLag)
	c.next = now + int64(expiryLook)
	for _, name := range sortedKeys(c.empty) {
		s := c.empty[name]
		if w.managers.hadTime(w.aways, now, s.at, bound) {
			c.infer(w, at(s.seq), "%s lost its last entry, and was not removed within %v", name, departedEntryGoes)
			delete(c.empty, name)
		}
	}
}

func (c *sv18) Finish(w *World) {
	c.expire(w, w.Now)
	c.emptied = c.removed.total(w)
}

func (c *sv18) doubts() []string {
	if len(c.empty) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("at the end %d StorageVersions had lost their last entry and were still there, not for long enough to say more", len(c.empty))}
}

func (c *sv18) Observations() []Observation {
	return []Observation{{What: "StorageVersions removed that nobody who takes part had an entry in", Seen: c.emptied, Need: needEmptied}}
}
