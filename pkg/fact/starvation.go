package fact

import (
	"sort"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// starvation is a stretch of time in which the machine made processes of the run wait, and
// for how long.
type starvation struct {
	Span
	waited int64
}

// observeStarvation keeps stretches apart from each other, so that no instant counts twice.
func (h *History) observeStarvation(ev *history.Event) {
	if ev.Starvation.DiskFull && h.diskFull == 0 {
		h.diskFull = max(ev.From, 1)
	}
	one := starvation{Span{ev.From, ev.At}, ev.Starvation.Waited()}
	if n := len(h.starvations); n > 0 {
		one.Begin = max(one.Begin, h.starvations[n-1].End)
	}
	if one.waited = min(one.waited, one.End-one.Begin); ev.From > 0 && one.waited > 0 {
		h.starvations = append(h.starvations, one)
	}
}

// DiskFull is the number of the first event from which on a disk of the machine may have been
// full; 0 if none was. Nothing that a control plane does then says anything of it.
func (h *History) DiskFull() int64 {
	if h.diskFull == 0 {
		return 0
	}
	return h.Evidence(h.diskFull)
}

// Starved is for how long at most, between two instants and while a signal was Yes, the
// machine made processes of the run wait. Of a stretch that reaches beyond that, all the
// waiting may lie within.
func (h *History) Starved(while Signal, from, to int64) time.Duration {
	total := int64(0)
	first := sort.Search(len(h.starvations), func(i int) bool { return h.starvations[i].End > from })
	for _, one := range h.starvations[first:] {
		if one.Begin >= to {
			break
		}
		total += min(one.waited, while.Lasts(max(one.Begin, from), min(one.End, to), Yes))
	}
	return time.Duration(total)
}
