package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// aways are the times at which the recorder of etcd heard nothing, oldest first: what
// it told then, it told late.
type aways []stretch

// stretch is a time of the history, in nanoseconds.
type stretch struct{ from, to int64 }

func (a *aways) take(ev *history.Event) {
	if Source(ev.Away.Source) == SourceEtcd && ev.From < ev.At {
		*a = append(*a, stretch{ev.From, ev.At})
	}
}

// lag bounds how much later than it happened a change may have been told that came
// at a time, if it happened no earlier than another one: what a recorder that
// listens needs, and all the time between the two in which it could not.
func (a aways) lag(from, to int64) time.Duration {
	away := int64(0)
	for i := len(a) - 1; i >= 0 && a[i].to > from; i-- {
		away += max(min(a[i].to, to)-max(a[i].from, from), 0)
	}
	return recorderLag + time.Duration(away)
}
