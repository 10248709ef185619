package check

import (
	"maps"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// lease is the identity Lease of one server, over all its incarnations.
type lease struct {
	// spans are the times at which it existed, oldest first; the last few.
	spans []span
	// goneAt is when it was seen to be deleted last.
	goneAt int64
	// renewed and duration are what it said last, and lapses the times at which it
	// was seen to be renewed only after its duration had passed, or made anew; the
	// last few.
	renewed  time.Time
	duration time.Duration
	lapses   []int64
}

// span is a range of revisions; deleted is 0 while it lasts.
type span struct{ created, deleted int64 }

const (
	keptSpans  = 8
	keptLeases = 256
)

func (l *lease) there() bool {
	return len(l.spans) > 0 && l.spans[len(l.spans)-1].deleted == 0
}

func (w *World) changeLease(id string, ev *history.Event) {
	s, l := ev.Stored, w.leases[id]
	if s.Type == history.StoredDelete {
		if l != nil && l.there() {
			l.spans[len(l.spans)-1].deleted, l.goneAt = s.Revision, ev.At
		}
		return
	}
	// A Lease that has lost its label is still the one by which the server
	// joined, so the label only counts when the Lease is new here.
	if l != nil && l.there() {
		l.renew(s.Lease, ev.At)
		return
	}
	if s.Lease == nil || !s.Lease.Identity {
		return
	}
	if l == nil {
		if len(w.leases) >= keptLeases {
			maps.DeleteFunc(w.leases, func(id string, l *lease) bool { return w.memberOf[id] == "" && !l.there() })
		}
		l = &lease{}
		w.leases[id] = l
	}
	if len(l.spans) >= keptSpans {
		l.spans = append(l.spans[:0], l.spans[1:]...)
	}
	if len(l.spans) > 0 {
		l.lapse(ev.At)
	}
	l.spans = append(l.spans, span{created: s.Created})
	l.renewed, l.duration = s.Lease.Renewed, time.Duration(s.Lease.Duration)*time.Second
}

// renew notes a change of a Lease that is there. Both times are by the clock of
// the server that renews it, so that they can be compared.
func (l *lease) renew(now *history.Lease, at int64) {
	if now == nil {
		return
	}
	if l.duration > 0 && !l.renewed.IsZero() && now.Renewed.Sub(l.renewed) >= l.duration {
		l.lapse(at)
	}
	l.renewed, l.duration = now.Renewed, time.Duration(now.Duration)*time.Second
}

func (l *lease) lapse(at int64) {
	if len(l.lapses) >= keptSpans {
		l.lapses = append(l.lapses[:0], l.lapses[1:]...)
	}
	l.lapses = append(l.lapses, at)
}

// participates is whether the server's identity Lease was there at a revision.
func (w *World) participates(serverID string, revision int64) bool {
	return w.participatedThrough(serverID, revision, revision)
}

// participatedThrough is whether one and the same identity Lease of the server
// was there all the time between two revisions.
func (w *World) participatedThrough(serverID string, from, to int64) bool {
	l := w.leases[serverID]
	if l == nil {
		return false
	}
	for _, s := range l.spans {
		if s.created <= from && (s.deleted == 0 || s.deleted > to) {
			return true
		}
	}
	return false
}
