package check

import "github.com/evenkeel/evenkeel/pkg/history"

// ad16: a dead aggregated server costs readiness no more than a small bound
// (KEP-3352: the health check waits for local servers only). How long a start
// takes anyway is learned from restarts while none was dead, no foreign one either.
type ad16 struct {
	findings
	burdened, free []start
}

// start is a restart of a server.
type start struct {
	member  string
	seq     int64
	readyAt int64 // the line
	took    int64
	dead    string
}

func (c *ad16) Observe(w *World, ev *history.Event) {
	if ev.Ready == nil || ev.Ready.Code != 200 {
		return
	}
	in := w.instanceAt(ev.Member, ev)
	if in == nil || in.ready == nil || in.ready.seq != ev.Seq || in.first {
		return
	}
	one := start{member: ev.Member, seq: in.startSeq, readyAt: ev.Seq, took: ev.At - in.startedAt}
	anything := w.foreignTrouble(in.startedAt, ev.At) != nil
	for _, b := range w.docs.backends {
		anything = anything || b.until == 0 || b.until >= in.startedAt
	}
	for _, b := range w.docs.active() {
		wanted := w.docs.wanted[wish{remote: true, group: b.group}]
		if b.bitten > 0 && b.since < in.startedAt && history.BackendTakesNothing(b.action) &&
			wanted != nil && len(wanted.versions) > 0 && wanted.until > 0 && wanted.until < in.startedAt {
			one.dead = b.group
		}
	}
	switch {
	case one.dead != "":
		c.burdened = append(c.burdened, one)
	case !anything:
		c.free = append(c.free, one)
	}
}

func (c *ad16) Finish(w *World) {
	if len(c.free) == 0 {
		return
	}
	longest := c.free[0]
	for _, one := range c.free[1:] {
		if one.took > longest.took {
			longest = one
		}
	}
	for _, one := range c.burdened {
		if one.took > longest.took+int64(deadCosts) {
			c.infer(w, at(longest.seq, longest.readyAt, one.seq, one.readyAt), "%s was ready after %s while the server of %s was dead, and without that a start takes no more than %s",
				one.member, seconds(one.took), one.dead, seconds(longest.took))
		}
	}
}

func (c *ad16) Observations() []Observation {
	return []Observation{
		{What: "restarts while an aggregated server was dead", Seen: int64(len(c.burdened)), Need: needRestarts},
		{What: "restarts while none was", Seen: int64(len(c.free)), Need: needRestarts},
	}
}
