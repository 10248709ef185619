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
	component string
	fact.Stamp
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
		f.errands = append(f.errands, errand{history.ComponentScheduler, fact.StampOf(ev)})
	case !pod && s.Type == history.StoredDelete:
		f.errands = append(f.errands, errand{history.ComponentControllerManager, fact.StampOf(ev)})
	}
}

// hasWork is while the leader of a Lease has something to do: from its first action on,
// or where the harness gives errands, from each of them until a leader acts.
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
		b.SetAt(l.facts.When(e.Stamp).Latest, fact.Yes)
	}
	if len(left) > 0 {
		b.SetAt(l.facts.When(left[0].Stamp).Latest+1, fact.No)
	}
	return b.Signal()
}
