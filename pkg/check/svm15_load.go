package check

import (
	"math"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm15: a migration rewrites no more objects a second than is declared, and other
// clients are served as quickly as before. KEP-25 declares fewer than ten a second
// where nobody has asked for anything else.
type svm15 struct {
	findings
	paced, during, before int64
	// under is what the migrations that run have rewritten.
	under map[*migrationSeen]*rewriting
	// with and without are the times of requests that were answered while a
	// migration ran, and while none did.
	with, without latencies
	// longest took longest while a migration ran, and slow is its event.
	longest time.Duration
	slow    int64
}

// rewriting is how much a migration has rewritten, and since when.
type rewriting struct {
	count       int64
	first, last int64
	seq         int64
}

// declaredByKEP is the rate of KEP-25, in objects a second.
const declaredByKEP = 10

func newSVM15() *svm15 { return &svm15{under: map[*migrationSeen]*rewriting{}} }

func (c *svm15) Observe(w *World, ev *history.Event) {
	if t := w.migrations.touched; t != nil && t.byMigration() && t.before.version != t.now.version {
		r := c.under[t.during]
		if r == nil {
			r = &rewriting{first: ev.At}
			c.under[t.during] = r
		}
		r.count++
		r.last, r.seq = ev.At, ev.Seq
	}
	if move := w.migrations.moved; move != nil && (move.ended || move.gone) {
		if r := c.under[move.m]; r != nil {
			c.judge(w, move.m, r)
		}
		delete(c.under, move.m)
	}
	c.time(w, ev)
}

func (c *svm15) judge(w *World, m *migrationSeen, r *rewriting) {
	if r.count < needMigrated {
		return
	}
	c.paced++
	limit := w.Header.MigrationRate
	if limit == 0 {
		limit = declaredByKEP
	}
	// The recorder may tell of the first ones late.
	took := time.Duration(r.last - r.first)
	if rate := float64(r.count-1) / took.Seconds(); rate > limit*pacedWithin {
		c.infer(w, at(m.started.seq, r.seq), "migration %s rewrote %d objects in %v, which are %.0f a second, and %v a second are declared", m.name, r.count, took.Round(time.Millisecond), rate, limit)
	}
}

// time notes how long a request took that was served.
func (c *svm15) time(w *World, ev *history.Event) {
	r := ev.Request
	if r == nil || !accepted(r) || r.Class != history.ClassGuarded && r.Class != history.ClassRead && r.Class != history.ClassCustom {
		return
	}
	took := time.Duration(ev.At - ev.From)
	for _, m := range w.migrations.live {
		if m.running() {
			c.during++
			c.with.add(took)
			if took > c.longest {
				c.longest, c.slow = took, ev.Seq
			}
			return
		}
	}
	c.before++
	c.without.add(took)
}

func (c *svm15) Finish(w *World) {
	with, without := c.with.slowest(), c.without.slowest()
	if with > slowRequest && with > slowerThan*without && c.before >= needTimed {
		c.infer(w, at(c.slow), "while migrations ran the slowest of a hundred requests took %v, and %v while none did", with.Round(time.Millisecond), without.Round(time.Millisecond))
	}
}

func (c *svm15) Observations() []Observation {
	return []Observation{
		{"migrations whose pace was measured", c.paced, needMigrations},
		{"requests timed while a migration ran", c.during, needTimed},
		{"requests timed while none ran", c.before, needTimed},
	}
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
