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

// since is the earliest time at which what was told at a time can have been done.
func (a aways) since(at int64) int64 {
	if i := len(a) - 1; i >= 0 && a[i].to <= at && at-a[i].to <= int64(recorderLag) {
		return a[i].from
	}
	return at
}

// lag bounds how much later than it happened a change may have been told that came
// at a time, if it happened no earlier than another one: what a recorder that
// listens needs, and all the time between the two in which it could not.
func (a aways) lag(from, to int64) time.Duration { return recorderLag + a.between(from, to) }

// between is for how long the recorder was away between two times.
func (a aways) between(from, to int64) time.Duration {
	away := int64(0)
	for i := len(a) - 1; i >= 0 && a[i].to > from; i-- {
		away += max(min(a[i].to, to)-max(a[i].from, from), 0)
	}
	return time.Duration(away)
}

// overdue is whether a bound was passed since a time by what etcd has told. Only what it
// tells says that its recorder was not away, and for how long it was; what was done
// meanwhile is told late.
func (w *World) overdue(ev *history.Event, since int64, bound time.Duration) bool {
	return (ev.Stored != nil || ev.End != nil) && time.Duration(ev.At-since) > bound+w.aways.between(since, ev.At)
}
