package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// lives are the components that have ended by themselves and have no process since.
type lives struct {
	mu    sync.Mutex
	ended map[place]string
}

type place struct {
	member    string
	component cluster.Component
}

func (l *lives) take(change cluster.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := place{change.Member, change.Component}
	switch {
	case change.What == history.ProcessExited && !change.Expected:
		if l.ended == nil {
			l.ended = map[place]string{}
		}
		l.ended[at] = change.Exit
	case change.What == history.ProcessStarted || change.What == history.ProcessExited:
		delete(l.ended, at)
	}
}

// lost is that a component has no process though no step has ended it; nil if none is
// missing.
func (l *lives) lost() *unreached {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ended) == 0 {
		return nil
	}
	at := slices.MinFunc(slices.Collect(maps.Keys(l.ended)), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.member, b.member), cmp.Compare(a.component, b.component))
	})
	return &unreached{NotReached: history.NotReached{Awaited: history.AwaitedProcess, Component: string(at.component),
		Message: fmt.Sprintf("the %s of %s has ended by itself: %s", at.component, at.member, l.ended[at])}, member: at.member}
}
