package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// edit is a story that is being changed. What it names must be there: a case
// that changes nothing would prove nothing.
type edit struct{ events []history.Event }

// find gives the nth event, from 1, that fits.
func (e *edit) find(nth int, fits func(*history.Event) bool) int {
	for i := range e.events {
		if fits(&e.events[i]) {
			if nth--; nth == 0 {
				return i
			}
		}
	}
	panic("the story has no such event")
}

// version finds the nth revision of a StorageVersion that fits.
func (e *edit) version(nth int, name string, fits func(*history.StorageVersion) bool) int {
	return e.find(nth, func(ev *history.Event) bool {
		return ev.Stored != nil && ev.Stored.StorageVersion != nil && ev.Stored.Name == name && fits(ev.Stored.StorageVersion)
	})
}

// entries fits the revisions of a StorageVersion with that many entries.
func entries(n int) func(*history.StorageVersion) bool {
	return func(sv *history.StorageVersion) bool { return len(sv.Entries) == n }
}

// ahead fits the revisions of the ballasts' StorageVersion in which cp1 has the
// newer release.
func ahead(ev *history.Event) bool {
	return ballastVersions(ev) && len(ev.Stored.StorageVersion.Entries) == 3 && ev.Stored.StorageVersion.Entries[0].Encoding == releases["1.3"].encoding
}

// during finds the first event after a step began that fits.
func (e *edit) during(action string, fits func(*history.Event) bool) int {
	from := e.find(1, func(ev *history.Event) bool { return ev.Step != nil && ev.Step.Action == action })
	return e.find(1, func(ev *history.Event) bool { return ev.At > e.events[from].At && fits(ev) })
}

// insert puts an event behind the one at i, at the same time.
func (e *edit) insert(i int, ev history.Event) {
	ev.At = e.events[i].At
	e.events = slices.Insert(e.events, i+1, ev)
}

// revise inserts a revision of a StorageVersion in front of the one at i, one
// revision earlier, with what change makes of it.
func (e *edit) revise(i int, change func(*history.Stored)) {
	ev := e.events[i]
	s := *ev.Stored
	s.Revision--
	s.StorageVersion = clone(s.StorageVersion)
	change(&s)
	ev.Stored = &s
	e.events = slices.Insert(e.events, i, ev)
}

// drop leaves out what fits.
func (e *edit) drop(fits func(*history.Event) bool) {
	before := len(e.events)
	e.events = slices.DeleteFunc(e.events, func(ev history.Event) bool { return fits(&ev) })
	if len(e.events) == before {
		panic("the story has nothing to drop")
	}
}

// each changes all that fits.
func (e *edit) each(fits func(*history.Event) bool, change func(*history.Event)) {
	n := 0
	for i := range e.events {
		if fits(&e.events[i]) {
			change(&e.events[i])
			n++
		}
	}
	if n == 0 {
		panic("the story has nothing to change")
	}
}

// stopAt ends the story, in good order, before the event at i.
func (e *edit) stopAt(i int) {
	end := e.events[len(e.events)-1]
	end.At = e.events[i].At
	e.events = append(e.events[:i], end)
}

// stopAfterHold ends the story at the end of the first hold.
func (e *edit) stopAfterHold() {
	e.stopAt(1 + e.find(1, func(ev *history.Event) bool { return ev.Hold != nil && ev.Hold.Phase == history.PhaseEnd }))
}

// keep is which events of the story a check reads.
type keep func(*history.Event) bool

func either(all ...keep) keep {
	return func(ev *history.Event) bool {
		return slices.ContainsFunc(all, func(k keep) bool { return k(ev) })
	}
}

func kinds(kinds ...history.Kind) keep {
	return func(ev *history.Event) bool { return slices.Contains(kinds, ev.Kind) }
}

func versions(ev *history.Event) bool {
	return ev.Stored != nil && ev.Stored.StorageVersion != nil
}

func ballastVersions(ev *history.Event) bool { return versions(ev) && ev.Stored.Name == ballastsName }

func leases(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Lease != nil }

// joins are the first writes of Leases.
func joins(ev *history.Event) bool { return leases(ev) && ev.Stored.Created == ev.Stored.Revision }

func ballasts(ev *history.Event) bool {
	return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, "/registry/"+ballastGroup+"/")
}

func requests(classes ...string) keep {
	return func(ev *history.Event) bool { return ev.Request != nil && slices.Contains(classes, ev.Request.Class) }
}

func ballastRequests(ev *history.Event) bool {
	return requests(history.ClassGuarded)(ev) && ev.Request.Resource == "ballasts"
}

// shownBallasts are the views of the StorageVersion of ballasts.
func shownBallasts(ev *history.Event) bool {
	return ev.Watch != nil && (ev.Watch.Name == "" || ev.Watch.Name == ballastsName)
}

func of(member string) keep {
	return func(ev *history.Event) bool { return ev.Member == member }
}

func both(all ...keep) keep {
	return func(ev *history.Event) bool {
		return !slices.ContainsFunc(all, func(k keep) bool { return !k(ev) })
	}
}

// trim keeps what the check reads, and the end.
func (e *edit) trim(k keep) []history.Event {
	out := slices.DeleteFunc(slices.Clone(e.events), func(ev history.Event) bool { return ev.End == nil && !k(&ev) })
	if len(out) > maxLines {
		panic(fmt.Sprintf("%d events are too many to read", len(out)))
	}
	tellOnce(out)
	return out
}

// maxLines is how long a fixture may be.
const maxLines = 148
