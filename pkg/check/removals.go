package check

import (
	"github.com/evenkeel/evenkeel/pkg/history"
)

// removals are the StorageVersions that the harness has removed, or that went with
// a custom resource which it took away. A request is told of when it is answered,
// and etcd's change by another recorder, so that either may come first: who blames
// a control plane for a removal has to wait until all is known.
type removals struct {
	asked   map[string][]stretch
	waiting []removal
}

// removal is what is to be done if nobody but the control plane removed an object.
type removal struct {
	name  string
	at    int64
	owner *runner
	do    func()
}

// maxRemovals bounds how many judgements wait for the end.
const maxRemovals = 4096

// forever is the end of a time that has none.
const forever = int64(1) << 62

// take notes what a request of the harness removes, from when it was sent until the
// recorder of etcd must have told of it.
func (r *removals) take(w *World, ev *history.Event) {
	x := ev.Request
	if x == nil || x.Verb != "delete" || x.Code >= 400 && x.Code < 500 {
		return
	}
	name, until := "", ev.At+int64(w.aways.lag(ev.From, ev.At))
	switch {
	case x.Group == storageVersionGroup && x.Resource == storageVersionResource:
		name = x.Name
		if x.Code == 0 {
			until = forever // nobody knows what became of it
		}
	case x.Defines != nil && !x.Defines.Remote:
		// Its StorageVersion goes when the last server has taken its handler away.
		name, until = objectName(x.Defines.Group, x.Defines.Resource), forever
	default:
		return
	}
	if r.asked == nil {
		r.asked = map[string][]stretch{}
	}
	if _, known := r.asked[name]; known || len(r.asked) < maxObjects {
		r.asked[name] = append(r.asked[name], stretch{ev.From, until})
	}
	if len(r.asked[name]) > keptChanges {
		r.asked[name] = append(r.asked[name][:0], r.asked[name][1:]...)
	}
}

// covers is whether the harness asked for the removal of an object that was told
// of at a time.
func (r *removals) covers(name string, at int64) bool {
	for _, s := range r.asked[name] {
		if s.from <= at && at <= s.to {
			return true
		}
	}
	return false
}

// unlessAsked has do run at the end of the history if the harness did not ask for
// the removal of the object that was told of at a time.
func (w *World) unlessAsked(name string, at int64, do func()) {
	if w.removals.covers(name, at) {
		return
	}
	if len(w.removals.waiting) >= maxRemovals {
		if w.asking != nil {
			w.asking.lost++
		}
		return
	}
	w.removals.waiting = append(w.removals.waiting, removal{name, at, w.asking, do})
}

// settle runs what waited, when all requests are known.
func (r *removals) settle(w *World) {
	for _, x := range r.waiting {
		switch {
		case r.covers(x.name, x.at):
		case x.owner == nil:
			x.do()
		default:
			x.owner.answer(w, x.do)
		}
	}
	r.waiting = nil
}
