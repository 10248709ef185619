package check

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad12: groups and resources come in one stable order on all servers, so that
// whoever has the same has the same document.
type ad12 struct {
	findings
	sets              map[string]*ordering
	common, restarted int64
	complained        once
}

// ordering is how the content of a document was ordered when it was seen first.
type ordering struct {
	order   string
	seq     int64
	members map[string]*instance
	counted bool
}

func newAD12() *ad12 { return &ad12{sets: map[string]*ordering{}} }

func (c *ad12) Observe(w *World, ev *history.Event) {
	if !polled(ev) {
		return
	}
	listing, in := w.docs.listing(ev.Document), w.instanceAt(ev.Member, ev)
	if _, ready := w.docs.knows(w, ev); !ready || listing == nil || in == nil {
		return // while a server starts it may still be putting things in order
	}
	// The APIServices of a group decide on its place, the foreign ones among them.
	settled := *listing
	settled.Groups = slices.DeleteFunc(slices.Clone(listing.Groups), func(g history.ListedGroup) bool { return w.groupHasForeign(ev.Member, g.Name, ev.From) })
	set, order := orderOf(&settled)
	known := c.sets[set]
	if known == nil {
		known = &ordering{order: order, seq: ev.Seq, members: map[string]*instance{}}
		c.sets[set] = known
	}
	if known.order != order {
		if c.complained.first(set + ev.Member) {
			c.infer(w, at(known.seq, ev.Seq), "%s lists what was listed before, or by another member, in another order", ev.Member)
		}
		return
	}
	if before, had := known.members[ev.Member]; had && before != in {
		c.restarted++
	}
	known.members[ev.Member] = in
	if len(known.members) == len(w.order) && !known.counted {
		known.counted = true
		c.common++
	}
}

// orderOf names what a document lists, and in which order.
func orderOf(listing *history.Listing) (set, order string) {
	var content, sequence []string
	for _, group := range listing.Groups {
		for _, version := range group.Versions {
			content = append(content, named(group.Name, version.Version)+" "+version.Freshness+" "+version.Inventory)
			sequence = append(sequence, named(group.Name, version.Version)+" "+version.Order)
		}
	}
	slices.Sort(content)
	return strings.Join(content, "\n"), strings.Join(sequence, "\n")
}

func (c *ad12) Finish(*World) {}

func (c *ad12) Observations() []Observation {
	return []Observation{
		{What: "different contents", Seen: int64(len(c.sets)), Need: needDocuments},
		{What: "contents that every member had in one order", Seen: c.common, Need: needCommon},
		{What: "contents that a member had in one order before and after a restart", Seen: c.restarted, Need: needCommon},
	}
}
