package check

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// ad23: each server shows the union of what it and its peers host, tells of itself
// alone when asked to, and hands requests for what only peers host on to them
// (KEP-4020). A look at a member is judged when all members have been as they are
// for so long that they must know each other.
type ad23 struct {
	findings
	quiet tally
	// lacking are the members that lack what a peer hosts, when all know each other. The others count, for each
	// of them, what only peers host and the union had, requests for that which
	// succeeded, and local views that left it out.
	lacking                map[string]bool
	united, reached, local map[string]int64
	counted, complained    once
}

func newAD23() *ad23 {
	return &ad23{lacking: map[string]bool{}, united: map[string]int64{}, reached: map[string]int64{}, local: map[string]int64{}}
}

// lackedResource is a resource that a member does not host, with the peers that do, in the
// order of the members.
type lackedResource struct {
	name, resource string
	hosts          []string
}

func (c *ad23) Observe(w *World, _ *history.Event) {
	s := w.docs.swept
	if s == nil {
		return
	}
	mine := w.viewNow(s.member)
	if mine == nil || mine.in != s.by {
		return
	}
	document, steady := s.same(groupsPath)
	since, ok := w.acquainted()
	if !ok || !steady || s.from < since+int64(peersShow) || !w.allLookedAt() {
		return
	}
	union := w.docs.listing(document.Document)
	if union == nil {
		return
	}
	c.quiet.add(w, s.member)
	lacked := w.lackedBy(s.member, mine)
	if len(lacked) > 0 {
		c.lacking[s.member] = true
	}
	c.localView(w, s, mine, lacked)
	for _, f := range lacked {
		c.inUnion(w, s, document, union, f)
	}
	c.handedOn(w, s, lacked)
}

// allLookedAt is whether it is known what each member hosts that has not left.
func (w *World) allLookedAt() bool {
	for _, member := range w.order {
		if _, gone := w.left(member); !gone && w.viewNow(member) == nil {
			return false
		}
	}
	return true
}

// lackedBy are the resources that peers which have not left host, and the member
// does not.
func (w *World) lackedBy(member string, mine *selfView) []lackedResource {
	found := map[[2]string]*lackedResource{}
	var all []lackedResource
	for _, other := range w.order {
		theirs := w.viewNow(other)
		if _, gone := w.left(other); gone || other == member || theirs == nil {
			continue
		}
		for name, resources := range theirs.local {
			// What was seen before the harness told that it had defined it.
			if group, version := parted(name); w.docs.defined(group) || w.isForeign(member, group, version, w.Now) {
				continue
			}
			for _, resource := range resources {
				if !mine.lacks(name, resource.Name) || theirs.lacks(name, resource.Name) {
					continue
				}
				key := [2]string{name, resource.Name}
				if found[key] == nil {
					found[key] = &lackedResource{name: name, resource: resource.Name}
				}
				found[key].hosts = append(found[key].hosts, other)
			}
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(found), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		all = append(all, *found[key])
	}
	return all
}

// localView looks for what only peers host in what the member says of itself.
func (c *ad23) localView(w *World, s *sweep, mine *selfView, lacked []lackedResource) {
	left := int64(0)
	for _, f := range lacked {
		if find(mine.local[f.name], f.resource) == nil {
			left++
			continue
		}
		if c.complained.first("local " + s.member + " " + f.name) {
			c.blame(w, s.member, f.name, func() {
				c.infer(w, at(mine.denied[f.name], w.docs.views[f.hosts[0]].seq, mine.seq), "%s was asked for what it hosts itself and lists %s in %s, which only %s hosts", s.member, f.resource, f.name, f.hosts[0])
			})
		}
	}
	if left > 0 {
		c.local[s.member]++
	}
}

// inUnion looks for what peers host in what the member says of all.
func (c *ad23) inUnion(w *World, s *sweep, document *history.Event, union *history.Listing, f lackedResource) {
	group, version := parted(f.name)
	found := versionIn(union, group, version)
	wrong := ""
	if found == nil {
		wrong = "does not list " + f.name
	} else {
		for _, host := range f.hosts {
			theirs := find(w.docs.views[host].local[f.name], f.resource)
			if lost := lostFromUnion(find(w.docs.inventories[found.Inventory], f.resource), theirs, len(f.hosts) == 1); lost != "" {
				wrong = "lists " + f.name + " otherwise than " + host + " does: " + lost
				break
			}
		}
	}
	if wrong == "" {
		if c.counted.first(s.member + " " + f.name + " " + f.resource) {
			c.united[s.member]++
		}
		return
	}
	if c.complained.first("union " + s.member + " " + f.name) {
		c.blame(w, s.member, f.name, func() {
			c.infer(w, at(w.docs.views[f.hosts[0]].seq, document.Seq), "%s %s, %s after all members were there, of which %s hosts it", s.member, wrong, seconds(s.from-c.since(w)), f.hosts[0])
		})
	}
}

func (c *ad23) since(w *World) int64 {
	since, _ := w.acquainted()
	return since
}

// lostFromUnion says what of a peer's resource the union leaves out; empty if
// nothing. Where several host it, verbs and subresources are those of all.
func lostFromUnion(united, theirs *history.ListedResource, alone bool) string {
	switch {
	case united == nil:
		return theirs.Name + " is missing"
	case alone && !reflect.DeepEqual(*united, *theirs):
		return fmt.Sprintf("%s is %+v, and there %+v", theirs.Name, *united, *theirs)
	}
	for _, verb := range theirs.Verbs {
		if !slices.Contains(united.Verbs, verb) {
			return theirs.Name + " lacks the verb " + verb
		}
	}
	for i := range theirs.Subresources {
		sub := &theirs.Subresources[i]
		if lost := lostFromUnion(find(united.Subresources, sub.Name), sub, false); lost != "" {
			return theirs.Name + " lacks a subresource: " + lost
		}
	}
	return ""
}

// handedOn looks at the requests for objects that only peers host.
func (c *ad23) handedOn(w *World, s *sweep, lacked []lackedResource) {
	last := map[string]*history.Event{}
	for _, ev := range s.answers {
		if name, resource, ok := resourceOfPath(ev.Document.Path); ok {
			last[name+" "+resource] = ev
		}
	}
	for _, f := range lacked {
		ev := last[f.name+" "+f.resource]
		switch {
		case ev == nil || ev.Document.Code == 0:
		case ev.Document.Code == http.StatusOK:
			c.reached[s.member]++
		case c.complained.first("request " + s.member + " " + f.name):
			c.blame(w, s.member, f.name, func() {
				c.infer(w, at(w.docs.views[f.hosts[0]].seq, ev.Seq), "%s was asked for %s in %s, which %s hosts, and answered %d %s", s.member, f.resource, f.name, f.hosts[0], ev.Document.Code, ev.Document.Status)
			})
		}
	}
}

// blame has do run unless the group-version was foreign: no peer hosts that.
func (c *ad23) blame(w *World, member, name string, do func()) {
	group, version := parted(name)
	w.unlessForeign(member, group, version, do)
}

func (c *ad23) Finish(*World) {}

// least is the count of the member that lacks something and has the fewest; 0 if
// there is no such member.
func (c *ad23) least(counts map[string]int64) int64 {
	least := int64(-1)
	for member := range c.lacking {
		if least < 0 || counts[member] < least {
			least = counts[member]
		}
	}
	return max(least, 0)
}

func (c *ad23) Observations() []Observation {
	return []Observation{
		{What: "looks at the member with the fewest when all knew each other", Seen: c.quiet.least(), Need: needSweeps},
		{What: "resources that only peers host in the union of the member with the fewest of those that lack some", Seen: c.least(c.united), Need: needUnited},
		{What: "requests for them that were handed on and succeeded, at the member with the fewest", Seen: c.least(c.reached), Need: needUnited},
		{What: "local views without them of the member with the fewest", Seen: c.least(c.local), Need: needUnited},
	}
}
