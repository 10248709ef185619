package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv23: the object's revision moves if and only if its content does, so that a
// migrator may compare it before and after (KEP-2339, version skew). That
// different contents have different revisions is etcd's doing; a write that
// changes nothing reported is the breach.
type sv23 struct {
	findings
	changes, unchangedStarts int64
	last                     map[string]lastContent
}

type lastContent struct {
	seq     int64
	content *history.StorageVersion
}

func newSV23() *sv23 { return &sv23{last: map[string]lastContent{}} }

func (c *sv23) Observe(w *World, ev *history.Event) {
	if ev.Discovery != nil {
		c.start(w, ev)
		return
	}
	if ev.Stored == nil {
		return
	}
	name := ev.Stored.Name
	now := ev.Stored.StorageVersion
	if now == nil {
		if ev.Stored.Type == history.StoredDelete {
			delete(c.last, name)
		}
		return
	}
	before, known := c.last[name]
	c.last[name] = lastContent{ev.Seq, now}
	if !known {
		return
	}
	if sameContent(before.content, now) {
		c.violate(at(before.seq, ev.Seq), "%s moved to revision %d although nothing in it changed", name, ev.Stored.Revision)
		return
	}
	c.changes++
}

// start counts restarts that had nothing new to report: the occasions at which
// a write without a change would have been made.
func (c *sv23) start(w *World, ev *history.Event) {
	in := w.instanceAt(ev.Member, ev)
	if in == nil || in.discSeq != ev.Seq || in.ready == nil || len(in.server.instances) < 2 {
		return
	}
	w.when(in.ready.revision, func() {
		for _, v := range w.versions {
			if c, ok := w.registered(in, v.name); ok && c.revision <= in.ready.revision {
				continue
			}
			if _, ok := w.entryAt(v.name, in.server.id, in.ready.revision); ok {
				c.unchangedStarts++
			}
		}
	})
}

func sameContent(a, b *history.StorageVersion) bool {
	return sameString(a.Common, b.Common) &&
		slices.EqualFunc(a.Entries, b.Entries, sameEntry) &&
		slices.EqualFunc(a.Conditions, b.Conditions, func(x, y history.Condition) bool {
			return x.Type == y.Type && x.Status == y.Status && x.Transition.Equal(y.Transition) && x.Reason == y.Reason && x.Message == y.Message
		})
}

func (c *sv23) Finish(*World) {}

func (c *sv23) Observations() []Observation {
	return []Observation{
		{"revisions that changed something", c.changes, needContentChanges},
		{"entries that a restarting server found as it would have written them", c.unchangedStarts, needUnchangedStarts},
	}
}
