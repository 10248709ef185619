package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv16: the entries of a server that has gone away disappear within a bound, and
// the agreement is formed anew of those that are left (KEP-2339, garbage
// collection). The time begins when the identity Lease is gone, and again
// whenever something comes in the collector's way: it is as long as it has to
// be for a collector that nothing hinders.
type sv16 struct {
	findings
	// stale are entries of servers that do not take part; last is what each
	// object had at its last revision.
	stale map[staleEntry]departure
	last  map[string][]history.Entry
	// forming are the objects that could have an agreement, have none, and had an
	// entry of a departed server in the way.
	forming map[string]since
	// next is when the first of all these may be overdue.
	next int64
	// expired are the servers whose Lease was complained of.
	expired once

	gone, formed            byObject
	departures, newlyAgreed int64
}

// staleEntry names the entry of a server in an object.
type staleEntry struct{ name, id string }

// departure is since when an entry is stale.
type departure struct {
	since
	// left is whether its server has taken part before.
	left bool
}

func newSV16() *sv16 {
	return &sv16{stale: map[staleEntry]departure{}, last: map[string][]history.Entry{}, forming: map[string]since{}, gone: byObject{}, formed: byObject{}}
}

func (c *sv16) Observe(w *World, ev *history.Event) {
	if name, now, ok := changedStorageVersion(ev); ok {
		c.changed(w, ev, name, now)
	}
	if id, gone, ok := leaseChange(ev); ok {
		c.member(w, ev, id, gone)
	}
	if ev.Stored != nil && ev.At >= c.next {
		c.expire(w, ev.At)
	}
}

// changed compares an object with what it was before.
func (c *sv16) changed(w *World, ev *history.Event, name string, now *history.StorageVersion) {
	before := c.last[name]
	delete(c.last, name)
	var entries []history.Entry
	if now != nil {
		entries = now.Entries
		c.last[name] = entries
	}
	freed := false
	for _, e := range before {
		key := staleEntry{name, e.ServerID}
		if d, ok := c.stale[key]; ok && indexOf(entries, e.ServerID) < 0 {
			delete(c.stale, key)
			if d.left && w.managers.inTime(ev.At, d.at, int64(departedEntryGoes+recorderLag)) {
				c.gone.add(name)
				freed = true
			}
		}
	}
	for _, e := range entries {
		key := staleEntry{name, e.ServerID}
		if _, known := c.stale[key]; !known && !w.takesPart(e.ServerID) {
			c.track(key, ev, w.leases[e.ServerID] != nil)
		}
	}
	c.agreement(w, ev, name, now, before, freed)
}

func (c *sv16) track(key staleEntry, ev *history.Event, left bool) {
	c.stale[key] = departure{since{at: ev.At, seq: ev.Seq}, left}
	c.soon(ev.At + int64(departedEntryGoes+recorderLag))
}

// soon has expire called by a time.
func (c *sv16) soon(due int64) {
	if c.next == 0 || due < c.next {
		c.next = due
	}
}

// agreement looks at whether the entries that are left agree, where one that has
// gone was in their way.
func (c *sv16) agreement(w *World, ev *history.Event, name string, now *history.StorageVersion, before []history.Entry, freed bool) {
	forming, waiting := c.forming[name]
	if now == nil {
		delete(c.forming, name)
		return
	}
	_, wereEqual := allEqual(before)
	agreed := now.Common != nil
	switch {
	case agreed && (waiting || freed && !wereEqual):
		if !waiting || w.managers.inTime(ev.At, forming.at, int64(departedEntryGoes+recorderLag)) {
			c.formed.add(name)
		}
		delete(c.forming, name)
	case !agreeable(w, name):
		delete(c.forming, name)
	case freed && !wereEqual && !waiting:
		c.forming[name] = since{at: ev.At, seq: ev.Seq}
		c.soon(ev.At + int64(departedEntryGoes+recorderLag))
	}
}

// member takes in that a server has left or joined.
func (c *sv16) member(w *World, ev *history.Event, id string, gone bool) {
	if !gone && !w.takesPart(id) {
		return // not an identity Lease
	}
	for _, name := range w.names() {
		key := staleEntry{name, id}
		_, known := c.stale[key]
		switch {
		case indexOf(w.versions[name].now.Entries, id) < 0:
		case !gone:
			delete(c.stale, key)
		case w.leases[id] != nil && !known:
			c.track(key, ev, true)
		}
	}
	for name := range c.forming {
		if !agreeable(w, name) {
			delete(c.forming, name)
		}
	}
}

// expire reports what is overdue.
func (c *sv16) expire(w *World, now int64) {
	const bound = int64(departedEntryGoes + recorderLag)
	c.next = now + int64(expiryLook)
	for _, key := range sortedEntries(c.stale) {
		d := c.stale[key]
		if !w.managers.hadTime(w.aways, now, d.at, bound) {
			c.soon(max(d.at, w.managers.ableSince) + bound + 1)
			continue
		}
		c.infer(w, at(d.seq), "%s still has an entry of %s, which has had no identity Lease for more than %v", key.name, key.id, departedEntryGoes)
		delete(c.stale, key)
	}
	for _, name := range sortedKeys(c.forming) {
		s := c.forming[name]
		if !w.managers.hadTime(w.aways, now, s.at, bound) {
			continue
		}
		c.infer(w, at(s.seq), "the entry of a server that has gone disappeared from %s, whose entries are equal now, and no version was called agreed within %v", name, departedEntryGoes)
		delete(c.forming, name)
	}
	c.leases(w, now)
	c.next = max(c.next, now+1)
}

// leases reports servers whose Lease has expired so long ago that it must have
// been taken away, and their entries with it.
func (c *sv16) leases(w *World, now int64) {
	wall := w.Header.Started.Add(time.Duration(now))
	for _, id := range sortedKeys(w.leases) {
		l := w.leases[id]
		if !l.there() || l.duration <= 0 || l.renewed.IsZero() {
			continue
		}
		renewed := int64(l.renewed.Sub(w.Header.Started))
		away := w.aways.between(renewed, now) // in which it may have been renewed
		// Who looks for expired Leases has to be there for as long as that takes.
		if wall.Sub(l.renewed) <= 2*l.duration+expiredEntryGoes+away || !w.managers.hadTime(w.aways, now, renewed, int64(l.duration+expiredEntryGoes)) {
			continue
		}
		for _, name := range w.names() {
			v := w.versions[name]
			if indexOf(v.now.Entries, id) >= 0 && c.expired.first(id) {
				c.infer(w, at(v.seq), "%s still has an entry of %s, whose identity Lease has not been renewed since %s", name, id, l.renewed.Format(time.RFC3339))
			}
		}
	}
}

func (c *sv16) Finish(w *World) {
	c.expire(w, w.Now)
	c.departures, c.newlyAgreed = c.gone.total(w), c.formed.total(w)
}

func (c *sv16) doubts() []string {
	if len(c.stale)+len(c.forming) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("at the end %d entries of servers without a Lease were still there, and %d agreements were to be formed: not for long enough to say more", len(c.stale), len(c.forming))}
}

func (c *sv16) Observations() []Observation {
	return []Observation{
		{What: "entries that went after their server's Lease had gone", Seen: c.departures, Need: needDepartures},
		{What: "agreements that were formed when the entry of a departed server went", Seen: c.newlyAgreed, Need: needFormed},
	}
}

func sortedEntries[V any](m map[staleEntry]V) []staleEntry {
	keys := make([]staleEntry, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b staleEntry) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id)) })
	return keys
}
