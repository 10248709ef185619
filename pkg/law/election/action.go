package election

import (
	"cmp"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Action is one action of a leader, as the object says that it wrote to.
type Action struct {
	history.Acted
	fact.Stamp
	// after is when it was written at the earliest, by the clocks of those that wrote
	// before it.
	after int64
}

// term is in which term it acted, in words; empty where that is not known.
func (a *Action) term() string {
	if a.Term == 0 {
		return ""
	}
	return fmt.Sprintf(" (term %d)", a.Term)
}

func (f *Facts) observeAction(ev *history.Event) {
	a := &Action{Acted: *ev.Stored.Acted, Stamp: fact.StampOf(ev), after: f.writtenAfter(ev.Stored.Revision)}
	l := f.leases[a.Lease]
	if l == nil {
		return
	}
	if a.Holder == "" {
		// One that never had the Lease is known by no other name than its host's.
		a.Holder = cmp.Or(l.lastOn(a.Host), a.Host)
	}
	for i := len(l.actions) - 1; i >= 0; i-- {
		if before := l.actions[i]; before.Holder == a.Holder {
			if before.Acted == a.Acted {
				return // another client wrote to the object
			}
			break
		}
	}
	l.actions = append(l.actions, a)
}

// lastOn is the holder that took the Lease last of those on a host; empty if none did.
func (l *Lease) lastOn(host string) string {
	for i := len(l.changes) - 1; i >= 0; i-- {
		if h := holder(l.changes[i].Now); h != "" && history.Host(h) == host {
			return h
		}
	}
	return ""
}

// taken is the revision at which a holder took the Lease last before another revision; 0
// if it never had.
func (l *Lease) takenBy(who string, before int64) int64 {
	taken := int64(0)
	for _, t := range l.tenures() {
		if t.Holder == who && t.Taken.Revision < before {
			taken = t.Taken.Revision
		}
	}
	return taken
}
