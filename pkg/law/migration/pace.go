package migration

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// pace is how fast objects were written in a stretch of time.
type pace struct {
	count       int64
	took        time.Duration
	first, last fact.Stamp
}

func (p pace) rate() float64 { return float64(p.count) / p.took.Seconds() }

// fastest is the stretch of at least a length in which most were written beyond a rate,
// with each as far from the others as the moments allow or, where near says so of a moment,
// as close; excess is by how many. A write may be held up for a time, so that the next ones come closer to it. The
// writes are in the order of their moments.
func (f *Facts) fastest(writes []fact.Stamp, limit float64, length, heldUp time.Duration, near func(fact.Moment) bool) (worst pace, excess float64) {
	begin, end := make([]int64, len(writes)), make([]int64, len(writes))
	for i, w := range writes {
		m := f.When(w)
		if begin[i], end[i] = m.Earliest, m.Latest; near(m) {
			begin[i], end[i] = m.Latest, m.Earliest
		}
	}
	excess = math.Inf(-1)
	consider := func(i, j int) {
		took := max(time.Duration(end[j]-begin[i]), length)
		n := int64(j - i) // the first one of a stretch takes no time
		if over := float64(n) - limit*(took+heldUp).Seconds(); over > excess {
			worst, excess = pace{n, took, writes[i], writes[j]}, over
		}
	}
	// Longer stretches: the one that begins where writes had fallen behind the rate most.
	behind, from, next := math.Inf(1), 0, 0
	for j := range writes {
		for next <= j && end[j]-begin[next] >= int64(length) {
			if b := float64(next) - limit*time.Duration(begin[next]).Seconds(); b < behind {
				behind, from = b, next
			}
			next++
		}
		if next > 0 {
			consider(from, j)
		}
		if next <= j {
			consider(next, j)
		}
	}
	return worst, excess
}

// latencies counts times by their order of magnitude.
type latencies struct {
	counts [64]int64
	total  int64
}

// finer is how many steps there are from one power of two to the next.
const finer = 2

func (l *latencies) add(d time.Duration) {
	step := int(finer * math.Log2(float64(max(d, time.Millisecond))/float64(time.Millisecond)))
	l.counts[min(step, len(l.counts)-1)]++
	l.total++
}

// slowest is what one of a hundred takes or exceeds.
func (l *latencies) slowest() time.Duration {
	left := l.total / 100
	for step := len(l.counts) - 1; step >= 0; step-- {
		if left -= l.counts[step]; left < 0 {
			return time.Duration(float64(time.Millisecond) * math.Exp2(float64(step)/finer))
		}
	}
	return 0
}

// sortBySeq has the stamps in the order in which they were recorded.
func sortBySeq(stamps []fact.Stamp) []fact.Stamp {
	slices.SortFunc(stamps, func(a, b fact.Stamp) int { return cmp.Compare(a.Seq, b.Seq) })
	return stamps
}
