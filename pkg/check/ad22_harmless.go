package check

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad22: a misbehaving aggregated server can neither crash the server nor touch
// other groups. What each member listed before the misbehaviour began is compared
// with what it lists during it, but for the groups of misbehaving servers.
type ad22 struct {
	findings
	// latest is what each member listed last, and before what it listed when the
	// misbehaviour began.
	latest, before map[string]*sighting
	// borne are the members that bore each misbehaviour.
	borne      map[string]map[string]bool
	complained once
}

// sighting is a document that a member gave.
type sighting struct {
	listing *history.Listing
	seq     int64
	at      int64
	release string
}

func newAD22() *ad22 {
	return &ad22{latest: map[string]*sighting{}, before: map[string]*sighting{}, borne: map[string]map[string]bool{}}
}

func (c *ad22) Observe(w *World, ev *history.Event) {
	switch {
	case ev.Fault != nil && ev.Fault.Type == history.FaultBackend && ev.Fault.Phase == history.PhaseInject:
		if len(w.docs.active()) == 1 {
			// The first one: what is listed now is from before.
			c.before = map[string]*sighting{}
			for member, seen := range c.latest {
				c.before[member] = seen
			}
		}
	case ev.Process != nil && ev.Process.Component == history.ComponentAPIServer && ev.Process.Change == history.ProcessExited && !ev.Process.Expected && !w.powerless(ev.Member):
		for _, b := range w.docs.active() {
			c.violate(at(b.seq, ev.Seq), "the API server of %s ended by itself (%s) while the server of %s was misbehaving (%s)", ev.Member, ev.Process.Exit, b.group, b.action)
		}
	case ev.Document != nil && ev.Document.Path == groupsPath && ev.Document.Accept == askedJSON && ev.Document.IfNoneMatch == "":
		c.look(w, ev)
	}
}

func (c *ad22) look(w *World, ev *history.Event) {
	since, ok := w.docs.knows(w, ev)
	if !ok {
		return
	}
	active := w.docs.active()
	if d := ev.Document; d.Code != 200 {
		if d.Code >= 400 && !busy(d) && len(active) > 0 && c.complained.first(fmt.Sprint("code", active[0].seq, ev.Member)) {
			c.infer(w, at(active[0].seq, ev.Seq), "%s answers %d for the discovery document while the server of %s is misbehaving (%s)", ev.Member, d.Code, active[0].group, active[0].action)
		}
		return
	}
	listing, in := w.docs.listing(ev.Document), w.instanceAt(ev.Member, ev)
	if listing == nil || in == nil {
		return
	}
	c.latest[ev.Member] = &sighting{listing, ev.Seq, ev.At, in.release}
	before := c.before[ev.Member]
	if len(active) == 0 || before == nil || before.release != in.release {
		return
	}
	for _, b := range active {
		if b.bitten == 0 || ev.From < b.bitten {
			return
		}
	}
	if harm := c.harm(w, ev, listing, before, since); harm != "" {
		b, evidence := active[0], at(before.seq, active[0].seq, ev.Seq)
		w.suspect("", &c.complained, fmt.Sprint(b.seq, ev.Member), func() {
			c.infer(w, evidence, "while the server of %s is misbehaving (%s), %s %s", b.group, b.action, ev.Member, harm)
		})
		return
	}
	for _, b := range active {
		if c.borne[b.action] == nil {
			c.borne[b.action] = map[string]bool{}
		}
		c.borne[b.action][ev.Member] = true
	}
}

// harm says how a document differs from the one before in what is none of the
// misbehaving servers' business; empty if it does not.
func (c *ad22) harm(w *World, ev *history.Event, listing *history.Listing, before *sighting, since int64) string {
	for _, group := range before.listing.Groups {
		for _, version := range group.Versions {
			if !c.concerns(w, group.Name, before) || w.docs.remote(group.Name, version.Version) && ev.From < since+int64(recovers) && since > before.at {
				continue
			}
			found := versionIn(listing, group.Name, version.Version)
			switch name := named(group.Name, version.Version); {
			case found == nil:
				return "does not list " + name + " any more"
			case version.Freshness != history.FreshnessCurrent && found.Freshness == history.FreshnessCurrent:
				// It was on its way when the misbehaviour began, and has arrived.
			case found.Freshness != version.Freshness:
				return fmt.Sprintf("calls %s %q", name, found.Freshness)
			case found.Inventory != version.Inventory:
				return "lists other resources in " + name
			}
		}
	}
	for _, group := range listing.Groups {
		for _, version := range group.Versions {
			if versionIn(before.listing, group.Name, version.Version) == nil && c.concerns(w, group.Name, before) {
				return "lists " + named(group.Name, version.Version) + ", which nobody defined"
			}
		}
	}
	return ""
}

// concerns is whether nothing but harm can change the group: its server behaves
// and it was not defined anew.
func (c *ad22) concerns(w *World, group string, before *sighting) bool {
	if b := w.docs.backends[group]; b != nil {
		return false
	}
	for _, one := range w.docs.wants {
		if one.group == group && (one.from > before.at-int64(definitionShows) || one.until == 0) {
			return false
		}
	}
	return true
}

func (c *ad22) Finish(*World) {}

func (c *ad22) Observations() []Observation {
	var borne int64
	for _, members := range c.borne {
		if len(members) == len(c.before) && len(members) > 0 {
			borne++
		}
	}
	return []Observation{{"kinds of misbehaviour that every member bore", borne, needMisbehaviours}}
}
