package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// foreignThings is what the history says of APIServices and CustomResourceDefinitions
// that neither the control plane nor the harness has made. A check leaves the
// group-versions of these out of what it compares: what becomes of them is their owner's
// business. It goes on to judge all others in full (requirement AD-26).
//
// The recorder tells of something foreign a moment after members show it. So a check that
// has found a breach in a group-version asks only after foreignTold whether that was
// foreign at the time: see unlessForeign.
type foreignThings struct {
	// byGroup are those of each group, and services the APIServices, in the order in
	// which they were told of first.
	byGroup  map[string][]*foreignThing
	services []*foreignThing
	byName   map[[2]string]*foreignThing
	late     []lateFinding
}

// foreignThing is one APIService or CustomResourceDefinition.
type foreignThing struct {
	history.Foreign
	seq int64
	// there are the times at which it was there, and troubled those at which its server
	// may not have answered, or not the same as before. Both are oldest first.
	there, troubled []foreignSpan
}

// foreignSpan is a stretch of time; until is 0 while it lasts.
type foreignSpan struct{ from, until int64 }

func (s foreignSpan) covers(at, extended int64) bool {
	return s.from <= at && (s.until == 0 || at <= s.until+extended)
}

// foreignTold is longer than it takes the recorder to tell of something foreign, while an
// API server answers it.
const foreignTold = 2 * history.ForeignCRDLook

func newForeignThings() *foreignThings {
	return &foreignThings{byName: map[[2]string]*foreignThing{}, byGroup: map[string][]*foreignThing{}}
}

// take brings what is known up to date.
func (f *foreignThings) take(w *World, ev *history.Event) {
	if told := ev.Foreign; told != nil && (told.Type == history.ForeignAPIService || told.Type == history.ForeignCRD) {
		f.takeForeign(ev)
	}
	f.settle(w, false)
}

func (f *foreignThings) takeForeign(ev *history.Event) {
	key := [2]string{ev.Foreign.Type, ev.Foreign.Name}
	one := f.byName[key]
	if one == nil {
		one = &foreignThing{}
		f.byName[key] = one
		f.byGroup[ev.Foreign.Group] = append(f.byGroup[ev.Foreign.Group], one)
		if ev.Foreign.Type == history.ForeignAPIService {
			f.services = append(f.services, one)
		}
	}
	one.Foreign, one.seq = *ev.Foreign, ev.Seq
	n := len(one.there)
	switch there := n > 0 && one.there[n-1].until == 0; {
	case ev.Foreign.Change == history.ForeignWent && there:
		one.there[n-1].until = ev.At
	case ev.Foreign.Change != history.ForeignWent && !there:
		one.there = lastFew(append(one.there, foreignSpan{from: ev.From}))
	}
	one.trouble(ev)
}

// trouble notes whether the server of an APIService answers. Any change of the APIService
// is trouble too: members may have fetched at any time since the last look.
func (one *foreignThing) trouble(ev *history.Event) {
	if one.Type != history.ForeignAPIService {
		return
	}
	n := len(one.troubled)
	if n == 0 || one.troubled[n-1].until > 0 && ev.From > one.troubled[n-1].until {
		one.troubled = lastFew(append(one.troubled, foreignSpan{from: ev.From}))
		n = len(one.troubled)
	}
	one.troubled[n-1].until = 0
	if ev.Foreign.Change == history.ForeignWent || ev.Foreign.Available == "True" {
		one.troubled[n-1].until = ev.At
	}
}

// keptForeign is how many times of one kind are remembered: more than a server that flaps
// has in the time for which a breach is held open.
const keptForeign = 32

func lastFew(spans []foreignSpan) []foreignSpan {
	return slices.Delete(spans, 0, max(0, len(spans)-keptForeign))
}

// foreign is since when a group-version has been foreign that a member showed at a time;
// ok is false where it was not. A member may show for definitionShows what is gone, and
// for as long after it was frozen or was started. What the harness defines is its own,
// whoever else has to do with the group.
func (w *World) foreign(member, group, version string, at int64) (since int64, ok bool) {
	things := w.foreignThings.byGroup[group]
	if len(things) == 0 || w.docs.defined(group) {
		return 0, false
	}
	extended := int64(definitionShows)
	for _, one := range things {
		if one.Version != "" && one.Version != version {
			continue
		}
		for _, s := range one.there {
			slack := extended
			if joined := w.docs.standingOf(member).joined; s.until > 0 && joined > s.until {
				slack += joined - s.until
			}
			if s.covers(at, slack) {
				return s.from, true
			}
		}
	}
	return 0, false
}

// isForeign is foreign without since when.
func (w *World) isForeign(member, group, version string, at int64) bool {
	_, ok := w.foreign(member, group, version, at)
	return ok
}

// foreignTrouble is an APIService whose server may not have answered as it should at some
// time between two, or so shortly before that a member may not have fetched from it
// since; nil if there was none.
func (w *World) foreignTrouble(from, to int64) *foreignThing {
	for _, one := range w.foreignThings.services {
		for _, s := range one.troubled {
			if s.from <= to && (s.until == 0 || from <= s.until+int64(recovers)) {
				return one
			}
		}
	}
	return nil
}

// lateFinding is a breach that was found at a time, and is one unless the group-version
// was foreign.
type lateFinding struct {
	at    int64
	owner *runner
	do    func()
}

// unlessForeign has do run if the group-version that a member showed at the moment was not
// foreign, once the recorder must have told of that.
func (w *World) unlessForeign(member, group, version string, do func()) {
	at := w.Now
	w.whenForeignTold(func() {
		if !w.isForeign(member, group, version, at) {
			do()
		}
	})
}

// whenForeignTold has do run once all that is foreign at the moment must have been told.
func (w *World) whenForeignTold(do func()) {
	w.foreignThings.late = append(w.foreignThings.late, lateFinding{at: w.Now, owner: w.asking, do: do})
}

// settle runs what is due, or all of it.
func (f *foreignThings) settle(w *World, all bool) {
	due := 0
	for due < len(f.late) && (all || w.Now >= f.late[due].at+int64(foreignTold)) {
		due++
	}
	late := f.late[:due:due]
	f.late = f.late[due:]
	for _, one := range late {
		if one.owner != nil {
			one.owner.answer(w, one.do)
		}
	}
}

// own is a listing without the group-versions that are foreign at a time.
func (w *World) own(member string, listing *history.Listing, at int64) *history.Listing {
	if listing == nil || len(w.foreignThings.byName) == 0 {
		return listing
	}
	out := *listing
	out.Groups = nil
	for _, group := range listing.Groups {
		versions := group.Versions
		group.Versions = nil
		for _, version := range versions {
			if !w.isForeign(member, group.Name, version.Version, at) {
				group.Versions = append(group.Versions, version)
			}
		}
		if len(group.Versions) > 0 || len(versions) == 0 {
			out.Groups = append(out.Groups, group)
		}
	}
	return &out
}

// differsByForeign is whether two contents of a document differ, and do so in foreign
// group-versions alone: then the tag is another one with good reason.
func (w *World) differsByForeign(member, content, other string, at int64) bool {
	a, b := w.docs.listings[content], w.docs.listings[other]
	if content == other || a == nil || b == nil {
		return false
	}
	same, order := orderOf(w.own(member, a, at))
	also, ordered := orderOf(w.own(member, b, at))
	return same == also && order == ordered
}

// groupHasForeign is whether any version of a group is foreign: its place among the
// groups, and its preferred version, may follow from that.
func (w *World) groupHasForeign(member, group string, at int64) bool {
	if w.docs.defined(group) {
		return false
	}
	for _, one := range w.foreignThings.byGroup[group] {
		if w.isForeign(member, group, one.Version, at) {
			return true
		}
	}
	return false
}

// String names it, for people.
func (one *foreignThing) String() string {
	if one.Type == history.ForeignCRD {
		return "the foreign CustomResourceDefinition " + one.Name
	}
	return "the foreign APIService " + one.Name
}
