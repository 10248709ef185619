package workload

import (
	"sync"
	"sync/atomic"
)

// Tagger gives out the numbers of tagged writes. For each member the numbers grow, and no
// two writers get the same number.
type Tagger struct{ counters sync.Map }

// Next is the next number of the member, from 1.
func (t *Tagger) Next(member string) int64 {
	counter, ok := t.counters.Load(member)
	if !ok {
		counter, _ = t.counters.LoadOrStore(member, new(atomic.Int64))
	}
	return counter.(*atomic.Int64).Add(1)
}
