package check

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad19: removing an APIService removes its group-version; a custom resource of
// the same group survives, and the other way round.
type ad19 struct {
	findings
	// custom and remote are removals that the other kind survived.
	custom, remote tally
	seen           once
	complained     once
}

func (c *ad19) Observe(w *World, ev *history.Event) {
	if !polled(ev) {
		return
	}
	since, ok := w.docs.knows(w, ev)
	listing := w.docs.listing(ev.Document)
	if !ok || listing == nil {
		return
	}
	for _, one := range w.docs.wants {
		if one.remote || !w.docs.shared(one.group) {
			continue
		}
		other := w.docs.wanted[wish{remote: true, group: one.group}]
		c.look(w, ev, listing, one, other, since)
		c.look(w, ev, listing, other, one, since)
	}
}

// look judges what became of one of two that share a group.
func (c *ad19) look(w *World, ev *history.Event, listing *history.Listing, one, other *wanting, since int64) {
	if one.until == 0 || other.until == 0 || ev.From < one.until {
		return
	}
	settled := ev.From > max(one.until, since)+int64(definitionShows)
	id := fmt.Sprint(one.seq, ev.Member, one.remote)
	left := c.ghosts(w, ev, listing, one, other, since)
	if len(one.versions) > 0 {
		for _, version := range one.versions {
			if settled && versionIn(listing, one.group, version) == nil {
				evidence := at(one.seq, other.seq, ev.Seq)
				w.suspect(one.group, &c.complained, id, func() {
					c.infer(w, evidence, "%s does not list %s, which only %s ever shared the group of", ev.Member, named(one.group, version), ofWhom(other))
				})
			}
		}
		return
	}
	if !left && len(one.before) > 0 && ev.From > other.until+int64(definitionShows) && c.survives(listing, other) && c.seen.first(id) {
		if one.remote {
			c.remote.add(w, ev.Member)
		} else {
			c.custom.add(w, ev.Member)
		}
	}
}

// ghosts looks for what one of the two had hosted at any time and neither is to host
// any more. It is whether such a group-version is listed, overdue or not.
func (c *ad19) ghosts(w *World, ev *history.Event, listing *history.Listing, one, other *wanting, since int64) (left bool) {
	for _, version := range one.ever {
		if slices.Contains(one.versions, version) || slices.Contains(other.versions, version) || versionIn(listing, one.group, version) == nil {
			continue
		}
		left = true
		if w.docs.due(one.group, version, ev.From, since) {
			continue
		}
		name, evidence, late := named(one.group, version), at(one.seq, ev.Seq), seconds(ev.From-one.until)
		what := "removed"
		if len(one.versions) > 0 {
			what = "defined anew without it"
		}
		w.suspect(one.group, &c.complained, fmt.Sprint(one.seq, ev.Member, one.remote, "left"), func() {
			c.infer(w, evidence, "%s still lists %s, %s after %s was %s", ev.Member, name, late, ofWhom(one), what)
		})
	}
	return left
}

// survives is whether all that is wanted is listed.
func (c *ad19) survives(listing *history.Listing, one *wanting) bool {
	return len(one.versions) > 0 && !slices.ContainsFunc(one.versions, func(v string) bool { return versionIn(listing, one.group, v) == nil })
}

func ofWhom(one *wanting) string {
	if one.remote {
		return "the APIService of " + one.group
	}
	return "the CustomResourceDefinition of " + one.resource + "." + one.group
}

func (c *ad19) Finish(*World) {}

func (c *ad19) Observations() []Observation {
	return []Observation{
		{What: "removals of an APIService that a custom resource survived, at the member with the fewest", Seen: c.remote.least(), Need: needShown},
		{What: "removals of a custom resource that an APIService survived, at the member with the fewest", Seen: c.custom.least(), Need: needShown},
	}
}
