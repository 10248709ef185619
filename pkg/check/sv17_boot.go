package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv17: a server that starts takes the stale entries of others out of the objects
// in which it reports (KEP-2339, updating StorageVersion: during bootstrap the
// entries of servers that are not on the list of participants are removed). What
// it found counts as evidence only where nobody else can have done it: no
// controller manager lived, and no other API server, from its start until it was
// ready. That something is left is a breach whoever else was there.
type sv17 struct {
	findings
	cleaned int64
	states  perInstance[bootstrap]
}

// bootstrap is what was seen of one process that starts.
type bootstrap struct {
	// seen is whether its start was, company whether somebody else lived then or
	// has come since, and judged whether it was ready.
	seen, company, judged bool
}

func newSV17() *sv17 { return &sv17{} }

func (c *sv17) Observe(w *World, ev *history.Event) {
	switch {
	case ev.Process != nil && ev.Process.Change == history.ProcessStarted:
		c.started(w, ev)
	case ev.Ready != nil:
		c.ready(w, ev)
	}
}

func (c *sv17) started(w *World, ev *history.Event) {
	switch ev.Process.Component {
	case history.ComponentControllerManager:
		for _, in := range w.running() {
			c.states.of(in).company = true
		}
	case history.ComponentAPIServer:
		for _, in := range w.running() {
			st := c.states.of(in)
			if in.server.member != ev.Member {
				st.company = true
				continue
			}
			st.seen = true
			st.company = len(w.managers.running) > 0 || slices.ContainsFunc(w.running(), func(other *instance) bool {
				return other != in && other.exitedAt == 0
			})
		}
	}
}

func (c *sv17) ready(w *World, ev *history.Event) {
	in := w.instanceAt(ev.Member, ev)
	if in == nil || in != w.servers[ev.Member].current() || in.ready == nil || in.ready.revision == 0 {
		return
	}
	st := c.states.of(in)
	if !st.seen || st.judged {
		return
	}
	st.judged = true
	alone, revision := !st.company, in.ready.revision
	w.when(revision, func() { c.judge(w, in, ev.Seq, revision, alone) })
}

// judge compares what a process found when it started with what it left when it
// was ready.
func (c *sv17) judge(w *World, in *instance, seq, revision int64, alone bool) {
	if in.silent() {
		return // it reports nowhere
	}
	var left []staleEntry
	for _, name := range sortedKeys(w.versions) {
		for _, id := range sortedKeys(w.versions[name].entries) {
			if _, there := w.entryAt(name, id, in.startRevision); !there || id == in.server.id || !w.absentThrough(id, in.startRevision, revision) {
				continue
			}
			_, reports := w.entryAt(name, in.server.id, revision)
			_, still := w.entryAt(name, id, revision)
			switch {
			case still && reports:
				left = append(left, staleEntry{name, id})
			case still:
				continue // an object that is none of its business
			}
			if alone {
				c.cleaned++
			}
		}
	}
	if len(left) > 0 {
		c.inferOf(w, kindStaleAtBoot, in.release, at(in.startSeq, seq, w.versions[left[0].name].seq),
			"%s was ready at revision %d and had left %d entries of servers that do not take part, the first in %s, of %s",
			in.server.member, revision, len(left), left[0].name, left[0].id)
	}
}

// absentThrough is whether a server had no identity Lease at any time between two
// revisions.
func (w *World) absentThrough(id string, from, to int64) bool {
	l := w.leases[id]
	return l == nil || !slices.ContainsFunc(l.spans, func(s span) bool {
		return s.created <= to && (s.deleted == 0 || s.deleted > from)
	})
}

func (c *sv17) Finish(*World) {}

func (c *sv17) Observations() []Observation {
	return []Observation{{What: "stale entries that a server found as it started, with no controller manager and no other API server there", Seen: c.cleaned, Need: needStaleAtBoot}}
}
