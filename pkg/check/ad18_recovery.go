package check

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad18: when the aggregated server is back its group-version is current again
// within a bound.
type ad18 struct {
	findings
	// lost are the misbehaviours in which a member listed a group-version as
	// stale.
	lost       once
	back       tally
	seen       once
	complained once
}

func (c *ad18) Observe(w *World, ev *history.Event) {
	if !polled(ev) {
		return
	}
	since, ok := w.docs.knows(w, ev)
	listing := w.docs.listing(ev.Document)
	if !ok || listing == nil {
		return
	}
	for _, one := range w.docs.wants {
		b := w.docs.backends[one.group]
		if !one.remote || b == nil || one.until == 0 || len(one.versions) == 0 || ev.From < one.until {
			continue
		}
		for _, version := range one.versions {
			name := named(one.group, version)
			found := versionIn(listing, one.group, version)
			id := fmt.Sprint(b.seq, name, ev.Member)
			current := found != nil && found.Freshness == history.FreshnessCurrent && len(w.docs.inventories[found.Inventory]) > 0
			switch {
			case b.until == 0:
				if found != nil && found.Freshness == history.FreshnessStale {
					c.lost.first(id)
				}
			case current && ev.From >= b.until:
				if c.lost[id] && c.seen.first(id) {
					c.back.add(w, ev.Member)
				}
			case ev.From > max(b.until, since, one.until)+int64(recovers):
				evidence, late := at(b.seq, ev.Seq), seconds(ev.From-b.until)
				w.suspect(one.group, &c.complained, id, func() {
					c.infer(w, evidence, "the server of %s answers for %s, and %s does not call it current", name, late, ev.Member)
				})
			}
		}
	}
}

func (c *ad18) Finish(*World) {}

func (c *ad18) Observations() []Observation {
	return []Observation{{What: "recoveries of aggregated servers that the member with the fewest showed", Seen: c.back.least(), Need: needOutages}}
}
