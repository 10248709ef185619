package discovery

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// foreignThings are the APIServices and CustomResourceDefinitions that neither the control
// plane nor the harness has made. A law leaves their group-versions out of what it
// compares: what becomes of them is their owner's business (requirement AD-26).
type foreignThings struct {
	all    []*foreignThing
	byName map[[2]string]*foreignThing
}

// foreignThing is one APIService or CustomResourceDefinition.
type foreignThing struct {
	history.Foreign
	seq int64
	// there are the times at which it may have been there, and troubled those at which its
	// server may not have answered, or not the same as before. One that lasts ends at
	// Forever.
	there, troubled []fact.Span
}

func newForeignThings() foreignThings {
	return foreignThings{byName: map[[2]string]*foreignThing{}}
}

func (t *foreignThings) observe(ev *history.Event) {
	told := ev.Foreign
	if told.Type != history.ForeignAPIService && told.Type != history.ForeignCRD {
		return
	}
	key := [2]string{told.Type, told.Name}
	one := t.byName[key]
	if one == nil {
		one = &foreignThing{seq: ev.Seq}
		t.byName[key] = one
		t.all = append(t.all, one)
	}
	one.Foreign = *told
	went := told.Change == history.ForeignWent
	one.there = mark(one.there, ev, !went)
	if told.Type == history.ForeignAPIService {
		// Any change of an APIService is trouble too: members may have fetched at any time
		// since the last look.
		one.troubled = mark(mark(one.troubled, ev, true), ev, !went && told.Available != "True")
	}
}

// mark has a condition hold, or end, with an event.
func mark(spans []fact.Span, ev *history.Event, holds bool) []fact.Span {
	n := len(spans)
	lasts := n > 0 && spans[n-1].End == fact.Forever
	switch {
	case holds && n > 0 && !lasts && ev.From <= spans[n-1].End:
		spans[n-1].End = fact.Forever
	case holds && !lasts:
		spans = append(spans, fact.Span{Begin: ev.From, End: fact.Forever})
	case !holds && lasts:
		spans[n-1].End = ev.At
	}
	return spans
}

func (one *foreignThing) String() string {
	if one.Type == history.ForeignCRD {
		return "the foreign CustomResourceDefinition " + one.Name
	}
	return "the foreign APIService " + one.Name
}

// isForeign is whether a group-version that a member showed at a time was foreign. A member
// may show for a while what is gone, and the clock stands while it does not serve. What the
// harness defines is its own, whatever else is in the group.
func (m *member) isForeign(group, version string, at int64) bool {
	if len(m.facts.foreign.all) == 0 || m.facts.isDefined(group) {
		return false
	}
	for _, one := range m.facts.foreign.all {
		if one.Group != group || one.Version != "" && version != "" && one.Version != version {
			continue
		}
		for _, s := range one.there {
			if s.Begin <= at && (s.End == fact.Forever || at <= s.End || m.serves().Lasts(s.End, at, fact.Yes) <= int64(showsWithin())) {
				return true
			}
		}
	}
	return false
}

// foreignAt is isForeign at a time; nil where nothing is foreign.
func (m *member) foreignAt(at int64) func(group, version string) bool {
	if len(m.facts.foreign.all) == 0 {
		return nil
	}
	return func(group, version string) bool { return m.isForeign(group, version, at) }
}

// differsByForeign is whether two documents differ, and in foreign group-versions alone:
// then the tag is another one with good reason.
func (m *member) differsByForeign(a, b *listing, at int64) bool {
	foreign := m.foreignAt(at)
	if foreign == nil || a == nil || b == nil || a == b {
		return false
	}
	same, order := a.contents(foreign)
	also, ordered := b.contents(foreign)
	return same == also && order == ordered
}

// trouble is an APIService whose server may not have answered as it should at some time
// between two, or so shortly before that a member may not have fetched from it since; nil
// if there was none.
func (f *Facts) trouble(from, to int64) *foreignThing {
	for _, one := range f.foreign.all {
		for _, s := range one.troubled {
			if s.Begin <= to && (s.End == fact.Forever || from <= s.End+int64(recoversWithin())) {
				return one
			}
		}
	}
	return nil
}
