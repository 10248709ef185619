package storageversion

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

const storageVersionGroup = "internal.apiserver.k8s.io"

// harness is what the harness did to StorageVersions itself, behind the back of the
// control plane: nothing of that is laid to it.
type harness struct {
	// removals are of an object, or of the custom resource that it is of.
	removals map[string][]removal
	// edits are when the harness asked for the change that made a revision of an object.
	edits map[string]map[int64]int64
	// creations are its requests to create an object that were not refused.
	creations map[string][]creation
	// touched are when an object was changed in any way.
	touched map[string][]int64
	// stormed are accepted edits of objects by member, for storms of conflicts; added are
	// writes of statuses, by which the harness reports for servers that it plays.
	stormed map[string][]storming
	added   map[string][]addition
}

type addition struct{ sent, answered, revision int64 }

// creation is a request to create an object; its revision is 0 where the answer does not
// tell what became of it.
type creation struct{ sent, revision int64 }

type removal struct {
	from, until int64
	// defined is whether a custom resource was taken away.
	defined bool
}

type storming struct {
	member string
	at     int64
}

func (h *harness) observe(ev *history.Event) {
	r := ev.Request
	if h.removals == nil {
		*h = harness{map[string][]removal{}, map[string]map[int64]int64{}, map[string][]creation{}, map[string][]int64{}, map[string][]storming{}, map[string][]addition{}}
	}
	h.remove(ev)
	h.create(ev)
	resource, _, _ := strings.Cut(r.Resource, "/")
	if r.Group != storageVersionGroup || resource != "storageversions" || r.Code < 200 || r.Code >= 300 {
		return
	}
	writes := r.Verb == "update" || r.Verb == "patch"
	if r.Verb != "get" && r.Verb != "list" && r.Verb != "watch" && (r.Class != history.ClassInvalid || r.WithoutDryRun) {
		h.touched[r.Name] = append(h.touched[r.Name], ev.At)
	}
	if writes && resource == r.Resource {
		h.stormed[r.Name] = append(h.stormed[r.Name], storming{ev.Member, ev.At})
	}
	// A probe makes nothing: its answer names the revision that was there.
	if writes && r.Class != history.ClassInvalid && r.ResourceVersion > 0 {
		if h.edits[r.Name] == nil {
			h.edits[r.Name] = map[int64]int64{}
		}
		h.edits[r.Name][r.ResourceVersion] = ev.From
		if r.Verb == "update" && r.Resource != resource {
			h.added[r.Name] = append(h.added[r.Name], addition{ev.From, ev.At, r.ResourceVersion})
		}
	}
}

// remove notes what a request takes away: from when it was sent until it was answered, or
// for ever where the answer does not tell what became of it. The StorageVersion of a
// custom resource goes when the last server has taken its handler away.
func (h *harness) remove(ev *history.Event) {
	r := ev.Request
	if r.Verb != "delete" || r.Code >= 400 && r.Code < 500 {
		return
	}
	one, name := removal{from: ev.From, until: ev.At}, r.Name
	switch {
	case r.Defines != nil && !r.Defines.Remote:
		one.until, one.defined = fact.Forever, true
		name = fact.Resource{Group: r.Defines.Group, Resource: r.Defines.Resource}.StorageVersionName()
	case r.Group != storageVersionGroup || r.Resource != "storageversions":
		return
	case r.Code == 0:
		one.until = fact.Forever
	}
	h.removals[name] = append(h.removals[name], one)
}

// create notes what a request makes. A probe of invalid statuses makes nothing.
func (h *harness) create(ev *history.Event) {
	r := ev.Request
	unknown := r.Code == 0 || r.Code >= 500 && !r.Barrier
	if r.Verb != "create" || r.Group != storageVersionGroup || r.Resource != "storageversions" || r.Class == history.ClassInvalid {
		return
	}
	switch {
	case unknown:
		h.creations[r.Name] = append(h.creations[r.Name], creation{sent: ev.From})
	case r.Code < 300:
		h.creations[r.Name] = append(h.creations[r.Name], creation{ev.From, r.ResourceVersion})
	}
}

// made is whether the harness made the object that a revision created.
func (h *harness) made(name string, revision int64, m fact.Moment) fact.Truth {
	made := fact.No
	for _, c := range h.creations[name] {
		switch {
		case c.revision == revision:
			return fact.Yes
		case c.revision == 0 && c.sent <= m.Latest:
			made = fact.Unknown
		}
	}
	return made
}

// removed is whether the harness may have removed an object at a moment.
func (h *harness) removed(name string, m fact.Moment) bool {
	return h.removedSince(name, m, fact.Never)
}

// removedSince is removed, but that the harness took a custom resource away before a time
// is no matter.
func (h *harness) removedSince(name string, m fact.Moment, since int64) bool {
	return slices.ContainsFunc(h.removals[name], func(r removal) bool {
		return r.from <= m.Latest && r.until >= m.Earliest && (!r.defined || r.from >= since)
	})
}

// edited is whether the harness made a revision of an object. What was told before the
// harness asked for anything it cannot have made: an edit may find nothing to change.
func (h *harness) edited(name string, s fact.Stamp) bool {
	from, ok := h.edits[name][s.Revision]
	return ok && s.At >= from
}

// repairing is whether the harness changed an object so shortly before an instant that a
// correct control plane may not have put it right.
func (h *harness) repairing(name string, at int64, within time.Duration) bool {
	return slices.ContainsFunc(h.touched[name], func(t int64) bool { return t <= at && at-t <= int64(within) })
}

// repair is while a correct control plane may not have put right what the harness did to
// an object.
func (h *harness) repair(name string, within time.Duration) fact.Signal {
	var b fact.Builder
	for _, t := range h.touched[name] {
		b.SetAt(t, fact.Yes)
		if !h.repairing(name, t+int64(within)+1, within) {
			b.SetAt(t+int64(within), fact.No)
		}
	}
	return b.Signal()
}
