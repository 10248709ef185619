package election

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// errand is something that the harness gave the leader of a component to do, where leaders
// leave no mark of their own accord: a Pod that fits nowhere for the scheduler, and an
// object that the controllers keep, deleted.
type errand struct {
	component, key string
	fact.Stamp
	// over is whether it was taken back: nothing is left to do.
	over bool
}

// errandNamespace is where the harness gives errands.
const errandNamespace = "/evenkeel-errands/"

func (f *Facts) observeErrand(ev *history.Event) {
	s := ev.Stored
	pod, deleted := strings.HasPrefix(s.Key, "/registry/pods/"), s.Type == history.StoredDelete
	switch {
	case pod && !deleted && s.Created == s.Revision, pod && deleted && f.lastPod() == s.Key:
		f.errands = append(f.errands, errand{history.ComponentScheduler, s.Key, fact.StampOf(ev), deleted})
	case !pod && deleted:
		f.errands = append(f.errands, errand{history.ComponentControllerManager, s.Key, fact.StampOf(ev), false})
	}
}

// lastPod is the key of the Pod that was made or taken back last.
func (f *Facts) lastPod() string {
	pods := fact.Where(f.errands, func(e errand) bool { return e.component == history.ComponentScheduler })
	if len(pods) == 0 {
		return ""
	}
	return pods[len(pods)-1].key
}

// hasWork is while the leader of a Lease has something to do: from its first action on,
// or where the harness gives errands, from each of them until a leader acts or it is taken back.
func (l *Lease) hasWork() fact.Signal {
	if l.actions[0].Host == "" {
		return fact.From(fact.Exactly(l.actions[0].At, 0))
	}
	var b fact.Builder
	left := l.actions
	acted := func(before int64) {
		for ; len(left) > 0 && left[0].Revision < before; left = left[1:] {
			b.SetAt(l.When(left[0].Stamp).Latest+1, fact.No)
		}
	}
	for _, e := range l.errands {
		if e.component == l.component() {
			acted(e.Revision)
			b.SetAt(l.When(e.Stamp).Latest, fact.Of(!e.over))
		}
	}
	acted(fact.Forever)
	return b.Signal()
}
