package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv13: while guarded writes are held back, five kinds of requests pass
// (KEP-2339, the list of exceptions of the filter). A request counts as "during
// the barrier" only when a guarded write that was sent after its answer was
// still refused by the same process.
type sv13 struct {
	findings
	passed  map[string]int64
	each    map[string]*perMember
	own     int64
	waiting perInstance[passing]
	// failed are requests that a server answered otherwise, or not at all, while
	// it held back writes, by member and class; confirmed are all of them, until
	// it is known at the end how what they were for is hosted.
	failed    map[memberClass]*failures
	confirmed []failure
	outages   outages
}

type memberClass struct{ member, class string }

type failures struct {
	// count is of all, slow of those that were not answered, or shed; code and
	// seq are the first one's.
	count, slow, seq int64
	code             int
}

// passing are the times of answers, by class, and of the server's own writes
// that may turn out to have come during the barrier.
type passing struct {
	answers map[string][]int64
	own     []int64
	// barredAt is when a guarded write was seen to be refused first, 0 before;
	// failures are what was sent after that and did not pass.
	barredAt int64
	failures []failure
}

// failure is a request that did not pass.
type failure struct {
	memberClass
	resource      groupResource
	from, at, seq int64
	code          int
}

// exceptions are the classes of requests that the filter lets through.
var exceptions = []string{history.ClassRead, history.ClassReview, history.ClassCustom, history.ClassAggregated}

// alone are those of them that need nothing but the server itself: the others
// have to wait for something that is not up when the server begins.
var alone = []string{history.ClassRead, history.ClassReview}

// maxWaiting bounds what is kept of one process and class: a barrier that never
// refuses anything would otherwise collect for ever.
const maxWaiting = 64

func newSV13() *sv13 {
	c := &sv13{passed: map[string]int64{}, each: map[string]*perMember{}, failed: map[memberClass]*failures{}}
	for _, class := range exceptions {
		c.each[class] = &perMember{}
	}
	return c
}

func (c *sv13) Observe(w *World, ev *history.Event) {
	if name, now, ok := changedStorageVersion(ev); ok && now != nil {
		c.ownWrites(w, ev, name, now)
		return
	}
	c.outages.take(w, ev)
	r := ev.Request
	if r == nil || r.Code == 0 && noServer(r) {
		return
	}
	exception := slices.Contains(exceptions, r.Class)
	if exception && r.Barrier {
		c.violate(at(ev.Seq), "%s held back a request of class %q (%s %s) until its registration, which must pass", ev.Member, r.Class, r.Verb, r.Resource)
		return
	}
	in := w.instanceAt(ev.Member, ev)
	if in == nil {
		return
	}
	switch {
	case r.Class == history.ClassGuarded && r.Barrier:
		p := c.waiting.of(in)
		if in.since(ev.From) {
			p.answers, p.own = nil, nil // the barrier was open in between
		}
		c.confirm(w, ev.Member, p, ev.From)
		if p.barredAt == 0 {
			p.barredAt = ev.At
		}
	case exception && accepted(r):
		p := c.waiting.of(in)
		if p.answers == nil {
			p.answers = map[string][]int64{}
		}
		if len(p.answers[r.Class]) < maxWaiting {
			p.answers[r.Class] = append(p.answers[r.Class], ev.At)
		}
	// An object that is not there was looked for.
	case exception && !(r.Class == history.ClassRead && r.Code == 404):
		p := c.waiting.of(in)
		if p.barredAt > 0 && ev.From >= p.barredAt && len(p.failures) < maxWaiting {
			p.failures = append(p.failures, failure{memberClass{ev.Member, r.Class}, groupResource{r.Group, r.Resource}, ev.From, ev.At, ev.Seq, r.Code})
		}
	}
}

// ownWrites notes that a server's own StorageVersion write went through.
func (c *sv13) ownWrites(w *World, ev *history.Event, name string, now *history.StorageVersion) {
	for _, e := range now.Entries {
		in := w.servers[w.memberOf[e.ServerID]].current()
		if in == nil || ev.Stored.Revision <= in.startRevision {
			continue
		}
		change, ok := w.changeAt(name, e.ServerID, ev.Stored.Revision)
		if p := c.waiting.of(in); ok && change.seq == ev.Seq && len(p.own) < maxWaiting {
			p.own = append(p.own, ev.At)
		}
	}
}

// confirm counts what came before a guarded write was sent that was refused.
func (c *sv13) confirm(w *World, member string, p *passing, from int64) {
	count := func(times []int64) (rest []int64, n int64) {
		rest = slices.DeleteFunc(times, func(t int64) bool { return t <= from })
		return rest, int64(len(times) - len(rest))
	}
	for _, class := range exceptions {
		rest, n := count(p.answers[class])
		if n > 0 {
			p.answers[class] = rest
			c.passed[class] += n
			c.each[class].addMany(w, member, n)
		}
	}
	rest, n := count(p.own)
	p.own = rest
	c.own += n
	p.failures = slices.DeleteFunc(p.failures, func(f failure) bool {
		if f.at > from {
			return false
		}
		c.confirmed = append(c.confirmed, f)
		return true
	})
}

// doubts: between two refusals of writes the server was up and its barrier
// shut, so that what failed then was not let pass; another reason for it there
// may be, so that it is no proof. A slow machine lets a few requests time out
// among many that pass.
func (c *sv13) doubts() []string {
	var out []string
	for _, key := range slices.SortedFunc(maps.Keys(c.failed), func(a, b memberClass) int {
		return cmp.Or(cmp.Compare(a.member, b.member), cmp.Compare(a.class, b.class))
	}) {
		f := c.failed[key]
		passed := c.each[key.class].seen[key.member]
		if slices.Contains(alone, key.class) {
			if f.count == f.slow && f.slow*answersForSlow <= passed {
				continue
			}
		} else if passed > 0 || f.count < needFailures {
			continue
		}
		out = append(out, fmt.Sprintf("%s let %d requests of class %s fail while it held back writes, the first with code %d (event %d)",
			key.member, f.count, key.class, f.code, f.seq))
	}
	return out
}

// Finish leaves out reads of what is not built in: they wait for who hosts it,
// and whether that is so may only be known after it was asked for. It also leaves out
// what was not answered, or shed, while the other members did not answer either: the
// barrier of one server cannot do that.
func (c *sv13) Finish(w *World) {
	for _, f := range c.confirmed {
		if f.class == history.ClassRead && w.resources.hosting[f.resource] == hostedElse {
			continue
		}
		if slow(f.code) && c.outages.elsewhere(w, f.member, f.from, f.at) {
			continue
		}
		of := c.failed[f.memberClass]
		if of == nil {
			of = &failures{seq: f.seq, code: f.code}
			c.failed[f.memberClass] = of
		}
		of.count++
		if slow(f.code) {
			of.slow++
		}
	}
}

// slow is whether a request was not answered in time, or shed.
func slow(code int) bool { return code == 0 || code == 429 || code == 504 }

func (c *sv13) Observations() []Observation {
	var out []Observation
	for _, class := range exceptions {
		out = append(out, Observation{What: "requests of class " + class + " that passed during the barrier", Seen: c.passed[class], Need: needBarrierPasses})
		if slices.Contains(alone, class) {
			out = append(out, c.each[class].fewest("requests of class "+class+" that passed during the barrier", needBarrierPasses))
		}
	}
	return append(out, Observation{What: "StorageVersion writes of the server itself during the barrier", Seen: c.own, Need: needBarrierPasses})
}
