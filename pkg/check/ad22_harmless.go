package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
	// trials are the misbehaviours, in the order in which they began.
	trials []*trial
	// denied is since when a member gives no document, by member.
	denied     map[string]*denial
	complained once
}

// trial is one misbehaviour: the members that were asked for the document while it
// was at work, and those that gave it unharmed.
type trial struct {
	b            *misbehaviour
	asked, borne map[string]bool
}

// denial is a time in which a member answers that it is there, and gives no document.
// Recorders leave out that a server goes on giving no answer: it lasts until there is
// one.
type denial struct {
	// in is the process that gave none.
	in *instance
	// from and at are when the first request was sent, and when that was told.
	from, at, seq int64
	// code is what it got.
	code int
	// because is what was misbehaving when it began; nil while that is not known.
	because *misbehaviour
	told    bool
}

// sighting is a document that a member gave.
type sighting struct {
	listing *history.Listing
	seq     int64
	at      int64
	release string
}

func newAD22() *ad22 {
	return &ad22{latest: map[string]*sighting{}, before: map[string]*sighting{}, denied: map[string]*denial{}}
}

func (c *ad22) Observe(w *World, ev *history.Event) {
	switch {
	case ev.Fault != nil && ev.Fault.Type == history.FaultBackend && ev.Fault.Phase == history.PhaseInject:
		c.trials = append(c.trials, &trial{b: w.docs.backends[ev.Fault.Group], asked: map[string]bool{}, borne: map[string]bool{}})
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
	case ev.Ready != nil:
		c.endures(w, ev)
	case ev.Document != nil && ev.Document.Path == groupsPath:
		c.deny(w, ev)
		if ev.Document.Accept == askedJSON && ev.Document.IfNoneMatch == "" {
			c.look(w, ev)
		}
	}
}

func (c *ad22) look(w *World, ev *history.Event) {
	since, ok := w.docs.knows(w, ev)
	if !ok {
		return
	}
	c.ask(w, ev)
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
	if group, version, harm := c.harm(w, ev, listing, before, since); harm != "" {
		b, evidence := active[0], at(before.seq, active[0].seq, ev.Seq)
		w.suspectVersion(ev.Member, group, version, &c.complained, fmt.Sprint(b.seq, ev.Member), func() {
			c.infer(w, evidence, "while the server of %s is misbehaving (%s), %s %s", b.group, b.action, ev.Member, harm)
		})
		return
	}
	for _, t := range c.trials {
		if t.b.until == 0 {
			t.borne[ev.Member] = true
		}
	}
}

// ask notes at which misbehaviours the member was asked for the document, and whether
// it answered or not. An answer that was on its way when a misbehaviour began or ended
// says nothing of it, unless it took more than half of that time: who gives the
// document only when it is over did not bear it.
func (c *ad22) ask(w *World, ev *history.Event) {
	if w.faulty(ev.Member) {
		return
	}
	for _, t := range c.trials {
		b, asked := t.b, false
		switch {
		case b.bitten == 0 || ev.At < b.bitten || b.until > 0 && ev.From >= b.until:
		case busy(ev.Document):
			asked = true
		case b.until == 0:
			asked = ev.From >= b.bitten
		default:
			asked = 2*(b.until-max(ev.From, b.bitten)) > b.until-b.bitten
		}
		if asked {
			t.asked[ev.Member] = true
		}
	}
}

// deny notes since when a member gives no document. Only single looks begin that,
// which are repeated at once: a thorough one asks for much else before it asks again.
func (c *ad22) deny(w *World, ev *history.Event) {
	d := ev.Document
	if f, ok := formOf(d); d.Code == 304 || d.Code == 200 && ok && f.aggregated() || d.Accept == askedJSON && !busy(d) {
		delete(c.denied, ev.Member)
		return
	}
	if !busy(d) || d.Accept != askedJSON || d.IfNoneMatch != "" || d.Sweep > 0 {
		return
	}
	in := w.instanceAt(ev.Member, ev)
	if open := c.denied[ev.Member]; in != nil && (open == nil || open.in != in) {
		c.denied[ev.Member] = &denial{in: in, from: ev.From, at: ev.At, seq: ev.Seq, code: d.Code}
	}
}

// endures looks, whenever a member says that it is ready, for how long it has given
// no document. One that is not ready, was replaced, or has a fault of its own is left
// alone, and the time begins anew.
func (c *ad22) endures(w *World, ev *history.Event) {
	d, in := c.denied[ev.Member], w.instanceAt(ev.Member, ev)
	since, ok := w.docs.knows(w, ev)
	switch {
	case d == nil:
		return
	case in != d.in:
		delete(c.denied, ev.Member)
		return
	case w.faulty(ev.Member):
		d.from = ev.At
		return
	case !ok:
		return
	}
	for _, t := range c.trials {
		if t.b.bitten == 0 || t.b.until > 0 && t.b.until < d.at {
			continue
		}
		if t.b.until == 0 {
			t.asked[ev.Member] = true
		}
		if d.because == nil && t.b.since <= d.at {
			d.because = t.b
		}
	}
	if d.because == nil || d.told {
		return
	}
	if from := max(d.from, d.because.since, since); ev.From > from+int64(documentBack) {
		d.told = true
		c.infer(w, at(d.because.seq, d.seq, ev.Seq), "%s is ready, and has given no discovery document for %s (%s), which began while the server of %s was misbehaving (%s)",
			ev.Member, seconds(ev.From-from), got(d.code), d.because.group, d.because.action)
	}
}

// got says what came in the place of a document.
func got(code int) string {
	if code == 0 {
		return "no answer"
	}
	return fmt.Sprintf("the answer was %d", code)
}

// harm says how a document differs from the one before in what is none of the
// misbehaving servers' business, and in which group-version; empty if it does not.
// What is foreign is nobody's business here.
func (c *ad22) harm(w *World, ev *history.Event, listing *history.Listing, before *sighting, since int64) (of, in, harm string) {
	for _, group := range before.listing.Groups {
		for _, version := range group.Versions {
			concerned, fresh := c.concerns(w, group.Name, before)
			if !concerned || w.isForeign(ev.Member, group.Name, version.Version, ev.From) || fresh && !w.docs.defines(group.Name, version.Version) || w.docs.remote(group.Name, version.Version) && ev.From < since+int64(recovers) && since > before.at {
				continue
			}
			found := versionIn(listing, group.Name, version.Version)
			switch name := named(group.Name, version.Version); {
			case found == nil:
				return group.Name, version.Version, "does not list " + name + " any more"
			case version.Freshness != history.FreshnessCurrent && found.Freshness == history.FreshnessCurrent:
				// It was on its way when the misbehaviour began, and has arrived.
			case found.Freshness != version.Freshness:
				return group.Name, version.Version, fmt.Sprintf("calls %s %q", name, found.Freshness)
			case found.Inventory != version.Inventory && !fresh:
				return group.Name, version.Version, "lists other resources in " + name
			}
		}
	}
	for _, group := range listing.Groups {
		for _, version := range group.Versions {
			concerned, fresh := c.concerns(w, group.Name, before)
			if versionIn(before.listing, group.Name, version.Version) == nil && concerned && !fresh && !w.isForeign(ev.Member, group.Name, version.Version, ev.From) {
				return group.Name, version.Version, "lists " + named(group.Name, version.Version) + ", which nobody defined"
			}
		}
	}
	return "", "", ""
}

// concerns is whether nothing but harm can change the group: its server behaves and
// it was not defined anew since. If it was so shortly before, it is fresh: not all of
// it may have been there yet, and something may have been on its way out.
func (c *ad22) concerns(w *World, group string, before *sighting) (concerned, fresh bool) {
	if b := w.docs.backends[group]; b != nil {
		return false, false
	}
	for _, one := range w.docs.wants {
		if one.group != group {
			continue
		}
		if one.from > before.at || one.until > before.at || one.until == 0 {
			return false, false
		}
		fresh = fresh || one.from > before.at-int64(definitionShows)
	}
	return true, fresh
}

func (c *ad22) Finish(*World) {}

func (c *ad22) Observations() []Observation {
	all, missed := map[string]bool{}, map[string]bool{}
	for _, t := range c.trials {
		all[t.b.action] = all[t.b.action] || c.bore(t)
		missed[t.b.action] = missed[t.b.action] || len(t.unproven()) > 0
	}
	var borne int64
	for action, by := range all {
		if by && !missed[action] {
			borne++
		}
	}
	return []Observation{{What: "kinds of misbehaviour that every member bore", Seen: borne, Need: needMisbehaviours}}
}

// bore is whether every member that can be compared with itself bore a misbehaviour.
func (c *ad22) bore(t *trial) bool {
	for member := range c.before {
		if !t.borne[member] {
			return false
		}
	}
	return len(c.before) > 0
}

// unproven are the members that were asked during a misbehaviour and were not seen to
// bear it.
func (t *trial) unproven() (out []string) {
	for _, member := range slices.Sorted(maps.Keys(t.asked)) {
		if !t.borne[member] {
			out = append(out, member)
		}
	}
	return out
}

// doubts are misbehaviours that somebody was asked during and did not show to bear:
// that others were borne says nothing of them.
func (c *ad22) doubts() (out []string) {
	for _, t := range c.trials {
		if members := t.unproven(); len(members) > 0 {
			out = append(out, fmt.Sprintf("%s gave no document that shows that the server of %s did no harm when it was misbehaving (%s)", strings.Join(members, ", "), t.b.group, t.b.action))
		}
	}
	return out
}
