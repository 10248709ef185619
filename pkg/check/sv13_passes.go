package check

import (
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
	own     int64
	waiting perInstance[passing]
}

// passing are the times of answers, by class, and of the server's own writes
// that may turn out to have come during the barrier.
type passing struct {
	answers map[string][]int64
	own     []int64
}

// exceptions are the classes of requests that the filter lets through.
var exceptions = []string{history.ClassRead, history.ClassReview, history.ClassCustom, history.ClassAggregated}

// maxWaiting bounds what is kept of one process and class: a barrier that never
// refuses anything would otherwise collect for ever.
const maxWaiting = 64

func newSV13() *sv13 { return &sv13{passed: map[string]int64{}} }

func (c *sv13) Observe(w *World, ev *history.Event) {
	if name, now, ok := changedStorageVersion(ev); ok && now != nil {
		c.ownWrites(w, ev, name, now)
		return
	}
	r := ev.Request
	if r == nil || r.Code == 0 {
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
		c.confirm(c.waiting.of(in), ev.From)
	case exception && accepted(r):
		p := c.waiting.of(in)
		if p.answers == nil {
			p.answers = map[string][]int64{}
		}
		if len(p.answers[r.Class]) < maxWaiting {
			p.answers[r.Class] = append(p.answers[r.Class], ev.At)
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
func (c *sv13) confirm(p *passing, from int64) {
	count := func(times []int64) (rest []int64, n int64) {
		rest = slices.DeleteFunc(times, func(t int64) bool { return t <= from })
		return rest, int64(len(times) - len(rest))
	}
	for _, class := range exceptions {
		rest, n := count(p.answers[class])
		if n > 0 {
			p.answers[class] = rest
			c.passed[class] += n
		}
	}
	rest, n := count(p.own)
	p.own = rest
	c.own += n
}

func (c *sv13) Finish(*World) {}

func (c *sv13) Observations() []Observation {
	var out []Observation
	for _, class := range exceptions {
		out = append(out, Observation{"requests of class " + class + " that passed during the barrier", c.passed[class], needBarrierPasses})
	}
	return append(out, Observation{"StorageVersion writes of the server itself during the barrier", c.own, needBarrierPasses})
}
