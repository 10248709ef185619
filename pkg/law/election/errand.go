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
	if s == nil || s.Acted != nil || !strings.Contains(s.Key, errandNamespace) {
		return
	}
	pod := strings.HasPrefix(s.Key, "/registry/pods/")
	switch {
	case pod && s.Type == history.StoredPut && s.Created == s.Revision:
		f.errands = append(f.errands, errand{component: history.ComponentScheduler, key: s.Key, Stamp: fact.StampOf(ev)})
	case pod && s.Type == history.StoredDelete && f.isLastErrand(s.Key):
		f.errands = append(f.errands, errand{component: history.ComponentScheduler, Stamp: fact.StampOf(ev), over: true})
	case !pod && s.Type == history.StoredDelete:
		f.errands = append(f.errands, errand{component: history.ComponentControllerManager, Stamp: fact.StampOf(ev)})
	}
}

// isLastErrand is whether the last Pod that was made is the one with a key.
func (f *Facts) isLastErrand(key string) bool {
	for i := len(f.errands) - 1; i >= 0; i-- {
		if f.errands[i].key != "" {
			return f.errands[i].key == key
		}
	}
	return false
}

// hasWork is while the leader of a Lease has something to do: from its first action on,
// or where the harness gives errands, from each of them until a leader acts or it is taken back.
func (l *Lease) hasWork() fact.Signal {
	var b fact.Builder
	if l.actions[0].Host == "" {
		b.SetAt(l.actions[0].At, fact.Yes)
		return b.Signal()
	}
	left := l.actions
	for _, e := range l.facts.errands {
		if e.component != componentOf(l.Key) {
			continue
		}
		for ; len(left) > 0 && left[0].Revision < e.Revision; left = left[1:] {
			b.SetAt(l.facts.When(left[0].Stamp).Latest+1, fact.No)
		}
		b.SetAt(l.facts.When(e.Stamp).Latest, fact.Of(!e.over))
	}
	if len(left) > 0 {
		b.SetAt(l.facts.When(left[0].Stamp).Latest+1, fact.No)
	}
	return b.Signal()
}
