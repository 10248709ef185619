package check

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// removals are the StorageVersions that the harness has removed, or that went with
// a custom resource which it took away. A request is told of when it is answered,
// and etcd's change by another recorder, so that either may come first: who blames
// a control plane for a removal has to wait until all is known.
type removals struct {
	asked   map[string][]asked
	waiting []removal
	// held counts those that wait, for each check.
	held map[*runner]int
	// edits are the revisions that the harness made of each, and when it asked for them.
	edits map[string]map[int64]int64
}

// asked is from when until when a removal is the harness's doing.
type asked struct {
	stretch
	// defined is whether it took a custom resource away.
	defined bool
}

// removal is what is to be done if nobody but the control plane removed an object.
type removal struct {
	harness func() bool
	owner   *runner
	do      func()
}

// maxRemovals bounds how many judgements of one check wait for the end.
const maxRemovals = 4096

// forever is the end of a time that has none.
const forever = int64(1) << 62

// take notes what a request of the harness removes, from when it was sent until the
// recorder of etcd must have told of it.
func (r *removals) take(w *World, ev *history.Event) {
	x := ev.Request
	if x == nil {
		return
	}
	r.edit(ev)
	if x.Verb != "delete" || x.Code >= 400 && x.Code < 500 {
		return
	}
	name, defined, until := "", false, ev.At+int64(w.aways.lag(ev.From, ev.At))
	switch {
	case x.Group == storageVersionGroup && x.Resource == storageVersionResource:
		name = x.Name
		if x.Code == 0 {
			until = forever // nobody knows what became of it
		}
	case x.Defines != nil && !x.Defines.Remote:
		// Its StorageVersion goes when the last server has taken its handler away.
		name, defined, until = objectName(x.Defines.Group, x.Defines.Resource), true, forever
	default:
		return
	}
	if r.asked == nil {
		r.asked = map[string][]asked{}
	}
	if _, known := r.asked[name]; known || len(r.asked) < maxObjects {
		r.asked[name] = append(r.asked[name], asked{stretch{ev.From, until}, defined})
	}
	if len(r.asked[name]) > keptChanges {
		r.asked[name] = append(r.asked[name][:0], r.asked[name][1:]...)
	}
}

// edit notes what the harness made of an object, beside removing it. A probe makes
// nothing: its answer names the revision that was there.
func (r *removals) edit(ev *history.Event) {
	x := ev.Request
	if x.Group != storageVersionGroup || x.Class == history.ClassInvalid || !accepted(x) || x.ResourceVersion == 0 || x.Verb != "update" && x.Verb != "patch" {
		return
	}
	if resource, _, _ := strings.Cut(x.Resource, "/"); resource != storageVersionResource {
		return
	}
	if r.edits == nil {
		r.edits = map[string]map[int64]int64{}
	}
	of := r.edits[x.Name]
	if of == nil && len(r.edits) < maxObjects {
		of = map[int64]int64{}
		r.edits[x.Name] = of
	}
	if of != nil && len(of) < maxEdits {
		of[x.ResourceVersion] = ev.From
	}
}

// maxEdits bounds how many edits of one object are remembered: several a second, for
// hours.
const maxEdits = 1 << 16

// covers is whether the harness asked for the removal of an object that was told
// of at a time.
func (r *removals) covers(name string, at int64) bool { return r.coversSince(name, at, -forever) }

// coversSince is covers, but that the harness took a custom resource away before a time
// is no matter.
func (r *removals) coversSince(name string, at, since int64) bool {
	return slices.ContainsFunc(r.asked[name], func(s asked) bool {
		return s.from <= at && at <= s.to && (!s.defined || s.from >= since)
	})
}

// unlessAsked has do run at the end of the history if the harness did not ask for
// the removal of the object that was told of at a time.
func (w *World) unlessAsked(name string, at int64, do func()) {
	w.unlessAskedSince(name, at, -forever, do)
}

// unlessAskedSince is unlessAsked, but that the harness took a custom resource away
// before a time is no matter.
func (w *World) unlessAskedSince(name string, at, since int64, do func()) {
	w.unlessHarness(func() bool { return w.removals.coversSince(name, at, since) }, do)
}

// unlessEdited has do run at the end of the history if it was not the harness that made
// a revision of an object, which was told of at a time. What was told before the harness
// asked for anything it cannot have made: an edit may find nothing to change.
func (w *World) unlessEdited(name string, revision, at int64, do func()) {
	missed := w.gaps[SourceEtcd]
	edited := func() bool {
		from, ok := w.removals.edits[name][revision]
		return ok && at >= from
	}
	w.unlessHarness(edited, func() {
		// It was seen before anything was missed that is missed by now.
		now := w.gaps[SourceEtcd]
		w.gaps[SourceEtcd] = missed
		defer func() { w.gaps[SourceEtcd] = now }()
		do()
	})
}

// unlessHarness has do run at the end of the history if something is not the doing of
// the harness by then.
func (w *World) unlessHarness(harness func() bool, do func()) {
	if harness() {
		return
	}
	if w.removals.held == nil {
		w.removals.held = map[*runner]int{}
	}
	if w.removals.held[w.asking] >= maxRemovals {
		if w.asking != nil {
			w.asking.lost++
		}
		return
	}
	w.removals.held[w.asking]++
	w.removals.waiting = append(w.removals.waiting, removal{harness, w.asking, do})
}

// settle runs what waited, when all requests are known.
func (r *removals) settle(w *World) {
	for _, x := range r.waiting {
		switch {
		case x.harness():
		case x.owner == nil:
			x.do()
		default:
			x.owner.answer(w, x.do)
		}
	}
	r.waiting = nil
}
