package check

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv23: the object's revision moves if and only if its content does, so that a
// migrator may compare it before and after (KEP-2339, version skew). That
// different contents have different revisions is etcd's doing; a write that
// changes nothing reported is the breach. One that a server makes from time to time
// shows only in a history that has the time for it, so the check tells how long it has
// watched in peace.
type sv23 struct {
	findings
	changes, unchangedStarts int64
	// peace is since when no API server has come or gone and no StorageVersion has
	// changed, while there is one of each, 0 if there is none; and longest how long
	// that was at most.
	peace   int64
	longest time.Duration
	last    map[string]lastContent
	counted perInstance[bool]
}

type lastContent struct {
	seq     int64
	content *history.StorageVersion
}

func newSV23() *sv23 { return &sv23{last: map[string]lastContent{}} }

func (c *sv23) Observe(w *World, ev *history.Event) {
	c.watch(w, ev)
	if ev.Discovery != nil || ev.Ready != nil {
		c.start(w, ev)
		return
	}
	name, now, ok := changedStorageVersion(ev)
	if !ok {
		return
	}
	if now == nil {
		delete(c.last, name)
		return
	}
	before, known := c.last[name]
	c.last[name] = lastContent{ev.Seq, now}
	if !known {
		return
	}
	if sameContent(before.content, now) {
		w.unlessEdited(name, ev.Stored.Revision, ev.At, func() {
			c.infer(w, at(before.seq, ev.Seq), "%s moved to revision %d although nothing in it changed", name, ev.Stored.Revision)
		})
		return
	}
	c.changes++
}

// watch takes the time in which nothing happens.
func (c *sv23) watch(w *World, ev *history.Event) {
	if c.peace > 0 {
		c.longest = max(c.longest, time.Duration(ev.At-c.peace))
	}
	_, _, changed := changedStorageVersion(ev)
	if !changed && (ev.Process == nil || ev.Process.Component != history.ComponentAPIServer) {
		return
	}
	c.peace = 0
	if len(w.names()) > 0 && slices.ContainsFunc(w.running(), func(in *instance) bool { return in.exitedAt == 0 }) {
		c.peace = ev.At
	}
}

// start counts restarts that had nothing new to report: the occasions at which
// a write without a change would have been made.
func (c *sv23) start(w *World, ev *history.Event) {
	in := w.instanceAt(ev.Member, ev)
	if in == nil || in.first || in.silent() || in.discovered == nil || in.ready == nil || in.ready.revision == 0 {
		return
	}
	if counted := c.counted.of(in); !*counted {
		*counted = true
		w.when(in.ready.revision, func() { c.count(w, in) })
	}
}

func (c *sv23) count(w *World, in *instance) {
	for _, r := range in.discovered.Resources {
		if !guardedByBarrier(r) {
			continue
		}
		change, ok := w.changeAt(objectName(r.Group, r.Resource), in.server.id, in.ready.revision)
		if ok && change.present && change.revision <= in.startRevision {
			c.unchangedStarts++
		}
	}
}

// sameContent compares what is reported. Entries and conditions are keyed
// lists: their order says nothing.
func sameContent(a, b *history.StorageVersion) bool {
	return sameString(a.Common, b.Common) &&
		sameKeyed(a.Entries, b.Entries, func(e history.Entry) string { return e.ServerID }, sameEntry) &&
		sameKeyed(a.Conditions, b.Conditions, func(c history.Condition) string { return c.Type }, sameCondition)
}

func sameKeyed[T any](a, b []T, key func(T) string, same func(x, y T) bool) bool {
	if len(a) != len(b) {
		return false
	}
	in := func(list []T, x T) bool {
		i := slices.IndexFunc(list, func(y T) bool { return key(y) == key(x) })
		return i >= 0 && same(x, list[i])
	}
	for i := range a {
		if !in(b, a[i]) || !in(a, b[i]) {
			return false
		}
	}
	return true
}

func sameCondition(x, y history.Condition) bool {
	return x.Type == y.Type && x.Status == y.Status && x.Transition.Equal(y.Transition) && x.Reason == y.Reason && x.Message == y.Message
}

func (c *sv23) Finish(*World) {}

func (c *sv23) Observations() []Observation {
	return []Observation{
		{What: "revisions that changed something", Seen: c.changes, Need: needContentChanges},
		{What: "entries that a restarting server found as it would have written them", Seen: c.unchangedStarts, Need: needUnchangedStarts},
		{What: "seconds on end, at most, in which no server came or went and no StorageVersion changed", Seen: int64(c.longest / time.Second), Need: 0},
	}
}
