package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv05: the versions that an entry calls served can be decoded, and are those
// which this server's discovery lists.
type sv05 struct {
	findings
	compared int64
}

func (c *sv05) Observe(w *World, ev *history.Event) {
	if ev.Discovery == nil {
		return
	}
	in := w.instanceAt(ev.Member, ev)
	if in == nil || in.ready == nil {
		return
	}
	// The event is the caller's: what waits for the revision needs a copy.
	discovery, seq := *ev.Discovery, ev.Seq
	w.when(discovery.Revision, func() { c.judge(w, in, discovery, seq) })
}

func (c *sv05) judge(w *World, in *instance, d history.Discovery, seq int64) {
	for _, r := range d.Resources {
		if !guardedByBarrier(r) {
			continue
		}
		name := objectName(r.Group, r.Resource)
		change, ok := w.changeAt(name, in.server.id, d.Revision)
		if !ok || !change.present {
			continue // SV-01 and SV-03 judge what is missing
		}
		c.compared++
		e := change.entry
		for _, v := range e.Served {
			if !slices.Contains(e.Decodable, v) {
				c.violate(at(change.seq), "in %s, %s serves %s and decodes only %v", name, e.ServerID, v, e.Decodable)
			}
		}
		if !sameSet(e.Served, r.Served) {
			c.violate(at(change.seq, seq), "in %s, %s calls %v served, but its discovery lists %v", name, e.ServerID, e.Served, r.Served)
		}
	}
}

func (c *sv05) Finish(*World) {}

func (c *sv05) Observations() []Observation {
	return []Observation{{"entries compared with their server's discovery", c.compared, needServedCompared}}
}
