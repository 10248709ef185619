package check

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad13: a custom resource that is created, changed or deleted shows on every
// server within a bound, and leaves no ghost. Groups that aggregated servers have
// a part in are AD-19's.
type ad13 struct {
	findings
	created, changed, deleted tally
	shown, complained         once
}

func (c *ad13) Observe(w *World, ev *history.Event) {
	if !polled(ev) {
		return
	}
	since, ok := w.docs.knows(w, ev)
	listing := w.docs.listing(ev.Document)
	if !ok || listing == nil {
		return
	}
	for _, one := range w.docs.wants {
		if one.remote || one.until == 0 || len(one.ever) == 0 || w.docs.shared(one.group) || ev.From < one.until {
			continue
		}
		wrong := w.docs.missing(listing, one)
		id := fmt.Sprint(one.seq, ev.Member)
		switch {
		case wrong == "" && c.shown.first(id):
			c.count(w, ev.Member, one)
		case wrong != "" && ev.From > max(one.until, since)+int64(definitionShows):
			evidence, late := at(one.seq, ev.Seq), seconds(ev.From-max(one.until, since))
			w.suspect(one.group, &c.complained, id, func() {
				c.infer(w, evidence, "%s after %s.%s was defined anew, %s %s", late, one.resource, one.group, ev.Member, wrong)
			})
		}
	}
}

func (c *ad13) count(w *World, member string, one *wanting) {
	switch {
	case len(one.versions) == 0:
		c.deleted.add(w, member)
	case len(one.before) == 0:
		c.created.add(w, member)
	default:
		c.changed.add(w, member)
	}
}

// shared is whether both a custom resource and an aggregated server were ever
// defined in the group.
func (d *documents) shared(group string) bool {
	return d.wanted[wish{remote: true, group: group}] != nil
}

// missing says how a document differs from what a CustomResourceDefinition wants;
// empty if it does not.
func (d *documents) missing(listing *history.Listing, one *wanting) string {
	for _, version := range one.versions {
		found := versionIn(listing, one.group, version)
		switch {
		case d.remote(one.group, version):
		case !d.hosts(found, one.resource):
			return fmt.Sprintf("does not have %s in %s", one.resource, named(one.group, version))
		case found.Freshness != history.FreshnessCurrent:
			return fmt.Sprintf("calls %s %q", named(one.group, version), found.Freshness)
		}
	}
	for _, version := range one.ever {
		if !slices.Contains(one.versions, version) && !d.remote(one.group, version) && d.hosts(versionIn(listing, one.group, version), one.resource) {
			return fmt.Sprintf("still has %s in %s", one.resource, named(one.group, version))
		}
	}
	return ""
}

// seconds are nanoseconds, for people.
func seconds(nanoseconds int64) string { return fmt.Sprintf("%.1f s", float64(nanoseconds)/1e9) }

func (c *ad13) Finish(*World) {}

func (c *ad13) Observations() []Observation {
	return []Observation{
		{What: "custom resources created that the member with the fewest showed", Seen: c.created.least(), Need: needShown},
		{What: "custom resources changed that the member with the fewest showed", Seen: c.changed.least(), Need: needShown},
		{What: "custom resources deleted that the member with the fewest showed", Seen: c.deleted.least(), Need: needShown},
	}
}
