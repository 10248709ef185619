package check

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// svm15: a migration rewrites no more objects a second than is declared, at any time,
// and other clients are served as quickly as before. KEP-25 declares fewer than ten a
// second where nobody has asked for anything else. Who is not served at all is not
// served quickly.
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
	// calm is since when each member has been ready with nothing in its way, and
	// unserved are the requests, oldest first, of which it may still show that there
	// was something.
	calm     map[string]int64
	unserved []unserved
	// all is what migrations have rewritten together, and sent what was seen of their
	// writes on the way: most of those may change nothing.
	all, sent rewriting
	// unready counts the requests that a member has not served since it ceased to be
	// ready while a migration ran, with nothing in its way; unexplained are those of
	// members that were ready again without anything having come to light.
	unready     map[string]int64
	unexplained int64
}

// rewriting is how much a migration has rewritten, and since when.
type rewriting struct {
	count       int64
	first, last int64
	seq         int64
	// recent are the times of what it has rewritten within paceWindow; most is how
	// many there were at most, and mostSeq the event at that time.
	recent  []int64
	most    int64
	mostSeq int64
}

// unserved is a request that was not answered, or with a word that it came at a bad
// time.
type unserved struct {
	member   string
	from, at int64
	seq      int64
	// during is whether a migration ran.
	during bool
}

// declaredByKEP is the rate of KEP-25, in objects a second.
const declaredByKEP = 10

func newSVM15() *svm15 {
	return &svm15{under: map[*migrationSeen]*rewriting{}, calm: map[string]int64{}, unready: map[string]int64{}}
}

func (c *svm15) Observe(w *World, ev *history.Event) {
	if t := w.migrations.touched; t != nil && t.byMigration() && t.before.version != t.now.version {
		r := c.under[t.during]
		if r == nil {
			r = &rewriting{first: w.aways.since(ev.At)}
			c.under[t.during] = r
		}
		r.add(w, ev)
		c.all.add(w, ev)
	}
	if ev.Exchange != nil {
		if gr, _, ok := writtenBy(ev.Exchange); ok && w.migrations.runningOf(gr) != nil {
			c.sent.add(w, ev)
		}
	}
	if move := w.migrations.moved; move != nil && (move.ended || move.gone) {
		if r := c.under[move.m]; r != nil {
			c.judge(w, move.m, r)
		}
		delete(c.under, move.m)
	}
	c.settle(ev.At)
	c.calms(w, ev)
	c.time(w, ev)
}

// add takes an object that was rewritten.
func (r *rewriting) add(w *World, ev *history.Event) {
	r.count++
	r.last, r.seq = ev.At, ev.Seq
	r.recent = append(r.recent, ev.At)
	for r.recent[0] <= ev.At-int64(paceWindow) {
		r.recent = r.recent[1:]
	}
	// What the recorder tells when it hears again may be of any time since it did last.
	if n := int64(len(r.recent)); n > r.most && w.aways.between(ev.At-int64(paceWindow+recorderLag), ev.At) == 0 {
		r.most, r.mostSeq = n, ev.Seq
	}
}

// declaredRate is how many objects a second migrations may write.
func declaredRate(w *World) float64 {
	if w.Header.MigrationRate == 0 {
		return declaredByKEP
	}
	return w.Header.MigrationRate
}

func (c *svm15) judge(w *World, m *migrationSeen, r *rewriting) {
	if r.count < needMigrated {
		return
	}
	c.paced++
	limit := declaredRate(w)
	// The recorder may tell of the first ones late.
	took := time.Duration(r.last - r.first)
	if rate := float64(r.count-1) / took.Seconds(); rate > limit*pacedWithin || float64(r.count-1) > limit*(took+recorderLag).Seconds() {
		c.infer(w, at(m.started.seq, r.seq), "migration %s rewrote %d objects in %v, which are %.0f a second, and %v a second are declared", m.name, r.count, took.Round(time.Millisecond), rate, limit)
		return
	}
	if rate := float64(r.most) / paceWindow.Seconds(); rate > limit*pacedWithin {
		c.infer(w, at(m.started.seq, r.mostSeq), "migration %s rewrote %d objects within %v, which are %.0f a second, and %v a second are declared", m.name, r.most, paceWindow, rate, limit)
	}
}

// calms notes since when members have been ready with nothing in their way. That its
// readiness is not answered does not make a server unready: it may have too much to do.
func (c *svm15) calms(w *World, ev *history.Event) {
	switch {
	case ev.Process != nil && ev.Process.Component == history.ComponentEtcd:
		clear(c.calm)
		clear(c.unready)
	case ev.Ready != nil && ev.Ready.Code != 200 && ev.Ready.Code != 0 && c.calm[ev.Member] > 0:
		delete(c.calm, ev.Member)
		c.unready[ev.Member] = 0
	case ev.Ready != nil && ev.Ready.Code == 200 && c.unready[ev.Member] > 0:
		c.unexplained += c.unready[ev.Member]
		delete(c.unready, ev.Member)
	case ev.Process != nil && ev.Process.Component == history.ComponentAPIServer, ev.Fault != nil, ev.Ready != nil && ev.Ready.Code != 200 && ev.Ready.Code != 0:
		delete(c.calm, ev.Member)
		if ev.Ready == nil {
			delete(c.unready, ev.Member)
		}
	case ev.Ready != nil && ev.Ready.Code == 200 && c.calm[ev.Member] == 0 && !w.faulty(ev.Member):
		c.calm[ev.Member] = ev.At
	}
}

// time notes how long a request took.
func (c *svm15) time(w *World, ev *history.Event) {
	r := ev.Request
	if r == nil || r.Class != history.ClassGuarded && r.Class != history.ClassRead && r.Class != history.ClassCustom {
		return
	}
	during := slices.ContainsFunc(w.migrations.live, (*migrationSeen).running)
	switch {
	case accepted(r):
		c.took(during, time.Duration(ev.At-ev.From), ev.Seq)
	case shed(r) && c.calmSince(ev.Member, ev.From):
		c.unserved = append(c.unserved, unserved{ev.Member, ev.From, ev.At, ev.Seq, during})
	case shed(r) && during:
		if n, unready := c.unready[ev.Member]; unready {
			c.unready[ev.Member] = n + 1
		}
	}
}

func (c *svm15) took(during bool, took time.Duration, seq int64) {
	if !during {
		c.before++
		c.without.add(took)
		return
	}
	c.during++
	c.with.add(took)
	if took > c.longest {
		c.longest, c.slow = took, seq
	}
}

// shed is whether a request was not answered though a server was there and the harness
// waited, or refused because of too much to do. The registration barrier is another
// matter.
func shed(r *history.Request) bool {
	switch r.Code {
	case 0:
		return !noServer(r) && !strings.Contains(r.Error, "context canceled")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return !r.Barrier
	}
	return false
}

func (c *svm15) calmSince(member string, from int64) bool {
	return c.calm[member] > 0 && c.calm[member] <= from
}

// settle counts the requests that were not served by members which nothing has been
// heard of since that explains it. Those of the last moment are left out.
func (c *svm15) settle(now int64) {
	for len(c.unserved) > 0 && now-c.unserved[0].at > int64(endShows) {
		u := c.unserved[0]
		c.unserved = c.unserved[1:]
		if c.calmSince(u.member, u.from) {
			c.took(u.during, max(time.Duration(u.at-u.from), unservedTakes), u.seq)
		}
	}
}

func (c *svm15) Finish(w *World) {
	for _, m := range w.migrations.live {
		if r := c.under[m]; r != nil {
			c.judge(w, m, r)
		}
	}
	for _, r := range []*rewriting{&c.all, &c.sent} {
		if rate, limit := float64(r.most)/paceWindow.Seconds(), declaredRate(w); c.count == 0 && rate > limit*pacedWithin {
			c.infer(w, at(r.mostSeq), "migrations wrote %d times within %v, all together, which is %.0f a second, and %v a second are declared", r.most, paceWindow, rate, limit)
		}
	}
	for _, n := range c.unready {
		c.unexplained += n
	}
	with, without := c.with.slowest(), c.without.slowest()
	if with > slowRequest && with > slowerThan*without && c.before >= needTimed {
		c.infer(w, at(c.slow), "while migrations ran the slowest of a hundred requests took %v, and %v while none did", with.Round(time.Millisecond), without.Round(time.Millisecond))
	}
}

func (c *svm15) doubts() []string {
	if c.unexplained == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d requests were not served while migrations ran, by members that had ceased to be ready with nothing in their way", c.unexplained)}
}

func (c *svm15) Observations() []Observation {
	return []Observation{
		{What: "migrations whose pace was measured", Seen: c.paced, Need: needMigrations},
		{What: "requests timed while a migration ran", Seen: c.during, Need: needTimed},
		{What: "requests timed while none ran", Seen: c.before, Need: needTimed},
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
