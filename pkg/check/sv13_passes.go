package check

import "github.com/evenkeel/evenkeel/pkg/history"

// sv13: while guarded writes are held back, five kinds of requests pass
// (KEP-2339, the list of exceptions of the filter). A request counts as "during
// the barrier" only when a guarded write that was sent after its answer was
// still refused by the same process.
type sv13 struct {
	findings
	passed  map[string]int64
	waiting map[*instance][]passing
	own     int64
	waitOwn map[*instance][]int64
}

// passing is an answer that may turn out to have been given during the barrier.
type passing struct {
	class string
	at    int64
}

// exceptions are the classes of requests that the filter lets through.
var exceptions = []string{history.ClassRead, history.ClassReview, history.ClassCustom, history.ClassAggregated}

// maxWaiting bounds what is kept for one process: a barrier that never refuses
// anything would otherwise collect for ever.
const maxWaiting = 256

func newSV13() *sv13 {
	return &sv13{passed: map[string]int64{}, waiting: map[*instance][]passing{}, waitOwn: map[*instance][]int64{}}
}

func (c *sv13) Observe(w *World, ev *history.Event) {
	if ev.Stored != nil && ev.Stored.StorageVersion != nil {
		c.ownWrites(w, ev)
		return
	}
	r := ev.Request
	if r == nil || r.Code == 0 {
		return
	}
	in := w.instanceAt(ev.Member, ev)
	if in == nil {
		return
	}
	if r.Class == history.ClassGuarded {
		if r.Barrier {
			c.confirm(in, ev.From)
		}
		return
	}
	for _, class := range exceptions {
		if r.Class != class {
			continue
		}
		if r.Barrier {
			c.violate(at(ev.Seq), "%s held back a request of class %q (%s %s) until its registration, which must pass", ev.Member, class, r.Verb, r.Resource)
		} else if accepted(r) && len(c.waiting[in]) < maxWaiting {
			c.waiting[in] = append(c.waiting[in], passing{class, ev.At})
		}
	}
}

// ownWrites notes that a server's own StorageVersion write went through.
func (c *sv13) ownWrites(w *World, ev *history.Event) {
	for _, e := range ev.Stored.StorageVersion.Entries {
		srv := w.servers[w.memberOf[e.ServerID]]
		if srv == nil || len(srv.instances) == 0 {
			continue
		}
		in := srv.instances[len(srv.instances)-1]
		change, ok := w.changeAt(ev.Stored.Name, e.ServerID, ev.Stored.Revision)
		if ok && change.seq == ev.Seq && ev.Stored.Revision > in.startRevision && len(c.waitOwn[in]) < maxWaiting {
			c.waitOwn[in] = append(c.waitOwn[in], ev.At)
		}
	}
}

// confirm counts what was answered before a guarded write that was refused.
func (c *sv13) confirm(in *instance, from int64) {
	kept := c.waiting[in][:0]
	for _, p := range c.waiting[in] {
		if p.at <= from {
			c.passed[p.class]++
		} else {
			kept = append(kept, p)
		}
	}
	c.waiting[in] = kept
	keptOwn := c.waitOwn[in][:0]
	for _, t := range c.waitOwn[in] {
		if t <= from {
			c.own++
		} else {
			keptOwn = append(keptOwn, t)
		}
	}
	c.waitOwn[in] = keptOwn
}

func (c *sv13) Finish(*World) {}

func (c *sv13) Observations() []Observation {
	var out []Observation
	for _, class := range exceptions {
		out = append(out, Observation{"requests of class " + class + " that passed during the barrier", c.passed[class], needBarrierPasses})
	}
	return append(out, Observation{"StorageVersion writes of the server itself during the barrier", c.own, needBarrierPasses})
}
