package check

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad17: after an outage of an aggregated server its last known resources stay
// listed, marked stale (KEP-3352: "stale data may be returned because the latest
// data was not able to be fetched").
type ad17 struct {
	findings
	// known is the inventory that each member listed as current last, by
	// group-version and member, while nothing was wrong.
	known      map[string]knownInventory
	kept       tally
	seen       once
	complained once
}

type knownInventory struct {
	inventory string
	seq       int64
	// in is the process that listed it: another one has to learn it anew.
	in *instance
}

func newAD17() *ad17 { return &ad17{known: map[string]knownInventory{}} }

func (c *ad17) Observe(w *World, ev *history.Event) {
	if !polled(ev) {
		return
	}
	listing := w.docs.listing(ev.Document)
	in := w.instanceAt(ev.Member, ev)
	if _, ok := w.docs.knows(w, ev); !ok || listing == nil {
		return
	}
	for _, one := range w.docs.wants {
		if !one.remote || one.until == 0 || len(one.versions) == 0 || ev.From < one.until {
			continue
		}
		for _, version := range one.versions {
			c.look(w, ev, in, one, version, versionIn(listing, one.group, version))
		}
	}
}

func (c *ad17) look(w *World, ev *history.Event, in *instance, one *wanting, version string, found *history.ListedVersion) {
	name := named(one.group, version)
	id := name + " " + ev.Member
	b := w.docs.misbehaves(one.group)
	if b == nil || ev.At < b.since {
		if found != nil && found.Freshness == history.FreshnessCurrent && len(w.docs.inventories[found.Inventory]) > 0 {
			c.known[id] = knownInventory{found.Inventory, ev.Seq, in}
		} else if found != nil {
			delete(c.known, id) // it is not back yet
		}
		return
	}
	known, ok := c.known[id]
	if !ok || known.in != in || one.from > b.since && len(one.before) == 0 || ev.From < b.since {
		return
	}
	if !history.BackendTakesNothing(b.action) {
		delete(c.known, id) // what it says now may be believed
		return
	}
	wrong := ""
	switch {
	case found == nil:
		wrong = "does not list it any more"
	case found.Freshness == history.FreshnessStale && found.Inventory != known.inventory:
		wrong = "has lost what it knew of its resources"
	case found.Freshness == history.FreshnessStale:
		if c.seen.first(fmt.Sprint(b.seq, id)) {
			c.kept.add(w, ev.Member)
		}
	case b.bitten > 0 && ev.From > b.bitten+int64(outageShows):
		wrong = fmt.Sprintf("still calls it %q after %s", found.Freshness, seconds(ev.From-b.bitten))
	}
	if wrong != "" {
		evidence := at(known.seq, b.seq, ev.Seq)
		w.suspect(one.group, &c.complained, fmt.Sprint(b.seq, id), func() {
			c.infer(w, evidence, "the server of %s is lost (%s), and %s %s", name, b.action, ev.Member, wrong)
		})
	}
}

func (c *ad17) Finish(*World) {}

func (c *ad17) Observations() []Observation {
	return []Observation{{What: "outages in which the member with the fewest kept what it knew", Seen: c.kept.least(), Need: needOutages}}
}
