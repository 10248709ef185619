package check

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad14: the group-versions of an aggregated server that could never be reached
// are "published with an empty resource list and a Stale for Freshness"
// (KEP-3352), without harm to others.
type ad14 struct {
	findings
	stale      tally
	seen       once
	complained once
}

func (c *ad14) Observe(w *World, ev *history.Event) {
	if !polled(ev) {
		return
	}
	since, ok := w.docs.knows(w, ev)
	listing := w.docs.listing(ev.Document)
	if !ok || listing == nil {
		return
	}
	for _, one := range w.docs.wants {
		b := w.docs.misbehaves(one.group)
		if !one.remote || b == nil || b.bitten == 0 || !history.BackendTakesNothing(b.action) || b.dead > one.begun || one.until == 0 || len(one.versions) == 0 {
			continue
		}
		if ev.From < max(one.until, b.bitten) {
			continue
		}
		late := ev.From > max(one.until, since)+int64(definitionShows)
		for _, version := range one.versions {
			found := versionIn(listing, one.group, version)
			name := named(one.group, version)
			var wrong string
			switch {
			case found == nil && late:
				wrong = "does not list it"
			case found == nil:
				continue
			case found.Freshness != history.FreshnessStale:
				wrong = fmt.Sprintf("calls it %q", found.Freshness)
			case len(w.docs.inventories[found.Inventory]) > 0:
				wrong = "lists resources in it"
			}
			if wrong != "" {
				evidence := at(b.seq, one.seq, ev.Seq)
				w.suspect(one.group, &c.complained, fmt.Sprint(one.seq, ev.Member, wrong), func() {
					c.infer(w, evidence, "%s never reached the server of %s, and %s", ev.Member, name, wrong)
				})
				continue
			}
			if c.seen.first(fmt.Sprint(one.seq, ev.Member)) {
				c.stale.add(w, ev.Member)
			}
		}
		c.others(w, ev, listing, b)
	}
}

// others looks at what the server hosts itself.
func (c *ad14) others(w *World, ev *history.Event, listing *history.Listing, b *misbehaviour) {
	for _, group := range listing.Groups {
		for _, version := range group.Versions {
			if version.Freshness == history.FreshnessCurrent || w.docs.remote(group.Name, version.Version) || w.isForeign(ev.Member, group.Name, version.Version, ev.From) {
				continue
			}
			evidence, name, freshness := at(b.seq, ev.Seq), named(group.Name, version.Version), version.Freshness
			w.suspectVersion(ev.Member, group.Name, version.Version, &c.complained, "others"+ev.Member, func() {
				c.infer(w, evidence, "while the server of %s cannot be reached, %s calls %s %q, which it hosts itself", b.group, ev.Member, name, freshness)
			})
		}
	}
}

func (c *ad14) Finish(*World) {}

func (c *ad14) Observations() []Observation {
	return []Observation{{What: "group-versions of servers never reached that the member with the fewest listed as stale", Seen: c.stale.least(), Need: needOutages}}
}
