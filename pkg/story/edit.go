package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Edit is a story that is being changed. Its methods panic if the story has no event
// that fits, because an edit without effect would prove nothing.
type Edit struct{ Events []history.Event }

// Find gives the nth event, from 1, that fits.
func (e *Edit) Find(nth int, fits func(*history.Event) bool) int {
	for i := range e.Events {
		if fits(&e.Events[i]) {
			if nth--; nth == 0 {
				return i
			}
		}
	}
	panic("the story has no such event")
}

// FindVersion finds the nth revision of a StorageVersion that fits.
func (e *Edit) FindVersion(nth int, name string, fits func(*history.StorageVersion) bool) int {
	return e.Find(nth, func(ev *history.Event) bool {
		return ev.Stored != nil && ev.Stored.StorageVersion != nil && ev.Stored.Name == name && fits(ev.Stored.StorageVersion)
	})
}

// FindDuring finds the first event after a step began that fits.
func (e *Edit) FindDuring(action string, fits func(*history.Event) bool) int {
	from := e.Find(1, func(ev *history.Event) bool { return ev.Step != nil && ev.Step.Action == action })
	return e.Find(1, func(ev *history.Event) bool { return ev.At > e.Events[from].At && fits(ev) })
}

// InsertAfter puts an event behind the one at i, at the same time.
func (e *Edit) InsertAfter(i int, ev history.Event) {
	ev.At = e.Events[i].At
	e.Events = slices.Insert(e.Events, i+1, ev)
}

// ReviseBefore inserts a revision of a StorageVersion in front of the one at i, one
// revision earlier, with what change makes of it.
func (e *Edit) ReviseBefore(i int, change func(*history.Stored)) {
	ev := e.Events[i]
	s := *ev.Stored
	s.Revision--
	s.StorageVersion = CloneStorageVersion(s.StorageVersion)
	change(&s)
	ev.Stored = &s
	e.Events = slices.Insert(e.Events, i, ev)
}

// InsertAt puts events at their times, each behind the events of the same time.
func (e *Edit) InsertAt(events ...history.Event) {
	e.Events = append(e.Events, events...)
	slices.SortStableFunc(e.Events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
}

// InsertStored puts a change of etcd at a time, at a revision of its own: all later
// revisions move up.
func (e *Edit) InsertStored(at int64, s history.Stored) {
	before := int64(0)
	for _, ev := range e.Events {
		if ev.Stored != nil && ev.At <= at {
			before = max(before, ev.Stored.Revision)
		}
	}
	move := func(revision *int64) {
		if *revision > before {
			*revision += revisionStep
		}
	}
	for i := range e.Events {
		ev := &e.Events[i]
		if ev.Stored != nil {
			move(&ev.Stored.Revision)
			move(&ev.Stored.Created)
		}
		if ev.Request != nil {
			move(&ev.Request.ResourceVersion)
		}
		if ev.Ready != nil {
			move(&ev.Ready.Revision)
		}
		if ev.HostedResources != nil {
			move(&ev.HostedResources.Revision)
		}
		if ev.Watch != nil {
			move(&ev.Watch.ResourceVersion)
		}
		if ev.Hold != nil {
			move(&ev.Hold.Revision)
		}
	}
	s.Revision = before + revisionStep
	if s.Created == 0 {
		s.Created = s.Revision
	}
	e.InsertAt(history.Event{Kind: history.KindStored, At: at, Stored: &s})
}

// Delay moves the event at i and all later ones to a later time.
func (e *Edit) Delay(i int, by time.Duration) {
	for ; i < len(e.Events); i++ {
		e.Events[i].At += int64(by)
		if e.Events[i].From > 0 {
			e.Events[i].From += int64(by)
		}
	}
}

// Drop leaves out what fits.
func (e *Edit) Drop(fits func(*history.Event) bool) {
	before := len(e.Events)
	e.Events = slices.DeleteFunc(e.Events, func(ev history.Event) bool { return fits(&ev) })
	if len(e.Events) == before {
		panic("the story has nothing to drop")
	}
}

// Each changes all that fits.
func (e *Edit) Each(fits func(*history.Event) bool, change func(*history.Event)) {
	n := 0
	for i := range e.Events {
		if fits(&e.Events[i]) {
			change(&e.Events[i])
			n++
		}
	}
	if n == 0 {
		panic("the story has nothing to change")
	}
}

// StopAt ends the story, in good order, before the event at i.
func (e *Edit) StopAt(i int) {
	end := e.Events[len(e.Events)-1]
	end.At = e.Events[i].At
	e.Events = append(e.Events[:i], end)
}

// StopAfterHold ends the story at the end of the first hold.
func (e *Edit) StopAfterHold() {
	e.StopAt(1 + e.Find(1, func(ev *history.Event) bool { return ev.Hold != nil && ev.Hold.Phase == history.PhaseEnd }))
}

// trim keeps the events that fit, and the end.
func (e *Edit) trim(fits Match, long bool) {
	e.Events = slices.DeleteFunc(e.Events, func(ev history.Event) bool { return ev.End == nil && !fits(&ev) })
	if len(e.Events) > maxLines && !long {
		panic(fmt.Sprintf("%d events are more than the %d that people can read: trim the story further", len(e.Events), maxLines))
	}
	omitRepeatedListings(e.Events)
}

// maxLines is how many events a trimmed story may have.
const maxLines = 148

// DropAt leaves the event at i out.
func (e *Edit) DropAt(i int) { e.Events = append(e.Events[:i], e.Events[i+1:]...) }

// FindLast finds the last event that fits.
func (e *Edit) FindLast(fits Match) int {
	for i := len(e.Events) - 1; i >= 0; i-- {
		if fits(&e.Events[i]) {
			return i
		}
	}
	panic("the story has no such event")
}

// Event is the nth event that fits.
func (e *Edit) Event(nth int, fits Match) *history.Event { return &e.Events[e.Find(nth, fits)] }

// Client is what a client found in the nth document that fits, to be changed.
func (e *Edit) Client(nth int, fits Match) *history.DiscoveryClient {
	document := e.Document(nth, fits)
	copied := *document.Client
	document.Client = &copied
	return &copied
}

// Document is the nth document that fits, to be changed.
func (e *Edit) Document(nth int, fits Match) *history.DiscoveryDocument {
	ev := e.Event(nth, fits)
	copied := *ev.DiscoveryDocument
	ev.DiscoveryDocument = &copied
	return &copied
}

// RewriteListing has a document say something else, under another tag.
func (e *Edit) RewriteListing(ev *history.Event, change func(*history.Listing)) {
	copied := *ev.DiscoveryDocument
	change(copied.Listing)
	copied.Content += "-otherwise"
	copied.Digest += "-otherwise"
	if copied.ETag != "" {
		copied.ETag = strings.TrimSuffix(copied.ETag, `"`) + `-otherwise"`
	}
	ev.DiscoveryDocument = &copied
}

// After matches the events that are later than the first one that fits.
func (e *Edit) After(fits Match) Match {
	from := e.Event(1, fits).At
	return func(ev *history.Event) bool { return ev.At > from }
}

// Before matches the events that are earlier than the first one that fits.
func (e *Edit) Before(fits Match) Match {
	until := e.Event(1, fits).At
	return func(ev *history.Event) bool { return ev.At < until }
}
