package check

import "github.com/evenkeel/evenkeel/pkg/history"

// ad24: when a member leaves, what only it hosted disappears from the documents of
// the others within a bound (KEP-4020). It has left when its API server and its
// identity Lease are gone.
type ad24 struct {
	findings
	// before is what each member listed last while another one was there, by that
	// one and the member.
	before map[string]map[string]lastListed
	// remaining are the members that were there after one had left that alone had hosted
	// something, and went counts at each of them what it had listed and did not list any
	// more.
	remaining           map[string]bool
	went                map[string]int64
	counted, complained once
}

type lastListed struct {
	in      *instance
	listing *history.Listing
	seq     int64
}

func newAD24() *ad24 {
	return &ad24{before: map[string]map[string]lastListed{}, remaining: map[string]bool{}, went: map[string]int64{}}
}

func (c *ad24) Observe(w *World, ev *history.Event) {
	if !polled(ev) {
		return
	}
	listing, in := w.docs.listing(ev.Document), w.instanceAt(ev.Member, ev)
	if _, ready := w.docs.knows(w, ev); !ready || listing == nil || in == nil {
		return
	}
	for _, other := range w.order {
		if other == ev.Member {
			continue
		}
		since, gone := w.left(other)
		switch {
		case gone && ev.From > since+int64(peersLeave):
			c.look(w, ev, in, listing, other, since)
		case !gone && w.inFull(other):
			if c.before[other] == nil {
				c.before[other] = map[string]lastListed{}
			}
			c.before[other][ev.Member] = lastListed{in, listing, ev.Seq}
		}
	}
}

// inFull is whether a member is there with all that it is: one that ends may give up its
// Lease a second before its process is gone, and the others leave out by then what it hosted.
func (w *World) inFull(member string) bool {
	s := w.docs.standing[member]
	return s != nil && s.in != nil && w.takesPart(w.serverOf[member])
}

// remain notes the members of which documents without the departed are wanted.
func (c *ad24) remain(w *World) {
	for _, member := range w.order {
		if s := w.docs.standing[member]; s != nil && s.in != nil {
			c.remaining[member] = true
		}
	}
}

// look compares a document with what only a member hosted that has left.
func (c *ad24) look(w *World, ev *history.Event, in *instance, listing *history.Listing, departed string, since int64) {
	before := c.before[departed][ev.Member]
	only := w.onlyOf(departed, since)
	if len(only) > 0 {
		c.remain(w)
	}
	for _, one := range only {
		id := departed + " " + ev.Member + " " + one.String()
		switch {
		case w.docs.lists(listing, one):
			if c.complained.first(id) {
				group, version := parted(one.name)
				evidence := at(w.docs.views[departed].seq, ev.Seq)
				w.unlessForeign(ev.Member, group, version, func() {
					c.infer(w, evidence, "%s lists %s %s after %s had left, which was the last to host that", ev.Member, one, seconds(ev.From-since), departed)
				})
			}
		case before.in == in && w.docs.lists(before.listing, one) && c.counted.first(id):
			c.went[ev.Member]++
		}
	}
}

// exclusive is a resource of a group-version, or with no resource all of it.
type exclusive struct{ name, resource string }

func (h exclusive) String() string {
	if h.resource == "" {
		return h.name
	}
	return h.resource + " in " + h.name
}

// lists is whether a document has it.
func (d *documents) lists(listing *history.Listing, one exclusive) bool {
	group, version := parted(one.name)
	found := versionIn(listing, group, version)
	return found != nil && (one.resource == "" || d.hosts(found, one.resource))
}

// onlyOf is what a member that has left hosted, and nobody who is still there or
// left later. It is nothing where it is not known what the others host.
func (w *World) onlyOf(departed string, since int64) []exclusive {
	theirs := w.viewNow(departed)
	if theirs == nil {
		return nil
	}
	elsewhere := map[exclusive]bool{}
	for _, other := range w.order {
		left, gone := w.left(other)
		if other == departed || gone && left <= since {
			continue
		}
		h := w.viewNow(other)
		if h == nil {
			return nil
		}
		for _, said := range []map[string][]history.ListedResource{h.local, h.own} {
			for name, resources := range said {
				elsewhere[exclusive{name, ""}] = true
				for _, resource := range resources {
					elsewhere[exclusive{name, resource.Name}] = true
				}
			}
		}
	}
	var only []exclusive
	for _, name := range sortedKeys(theirs.local) {
		if group, version := parted(name); w.docs.defined(group) || w.isForeign(departed, group, version, w.Now) {
			continue // seen before the harness told that it had defined it
		}
		if !elsewhere[exclusive{name, ""}] && !theirs.denies(name) {
			only = append(only, exclusive{name, ""})
			continue
		}
		for _, resource := range theirs.local[name] {
			if one := (exclusive{name, resource.Name}); !elsewhere[one] && !theirs.lacks(name, resource.Name) {
				only = append(only, one)
			}
		}
	}
	return only
}

func (c *ad24) Finish(*World) {}

func (c *ad24) Observations() []Observation {
	least := int64(0)
	for i, member := range sortedKeys(c.remaining) {
		if i == 0 || c.went[member] < least {
			least = c.went[member]
		}
	}
	return []Observation{
		{What: "things that a departed member alone had hosted, and that went from the documents of the remaining member with the fewest", Seen: least, Need: needGone},
	}
}
