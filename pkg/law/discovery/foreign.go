package discovery

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// foreignThing is an APIService or CustomResourceDefinition that neither the control plane
// nor the harness has made. A law leaves its group-versions out of what it compares: what
// becomes of them is their owner's business (requirement AD-26).
type foreignThing struct {
	history.ThirdPartyObject
	seq int64
	// there is while it is there, and troubled while its server may not answer, or not the same
	// as before.
	there, troubled fact.Builder
}

func (f *Facts) observeForeign(ev *history.Event) {
	told := ev.ThirdPartyObject
	if told.Type != history.ThirdPartyAPIService && told.Type != history.ThirdPartyCRD {
		return
	}
	i := slices.IndexFunc(f.foreign, func(one *foreignThing) bool { return one.Type == told.Type && one.Name == told.Name })
	if i < 0 {
		i = len(f.foreign)
		f.foreign = append(f.foreign, &foreignThing{seq: ev.Seq})
	}
	one, went := f.foreign[i], told.Change == history.ThirdPartyDeleted
	one.ThirdPartyObject = *told
	one.there.Set(fact.Moment{Earliest: ev.From, Latest: ev.At}, fact.Of(!went))
	if told.Type == history.ThirdPartyAPIService {
		// Any change of an APIService is trouble too: members may have fetched at any time
		// since the last look.
		one.troubled.SetAt(ev.From, fact.Yes)
		one.troubled.SetAt(ev.At, fact.Of(!went && told.Available != "True"))
	}
}

func (one *foreignThing) String() string {
	if one.Type == history.ThirdPartyCRD {
		return "the foreign CustomResourceDefinition " + one.Name
	}
	return "the foreign APIService " + one.Name
}

// isForeign is whether a group-version that a member showed at a time was foreign; one
// without a version stands for all of its group. A member may show for a while what is gone,
// and the clock stands while it does not serve. What the harness defines is its own,
// whatever else is in the group.
func (m *member) isForeign(of groupVersion, at int64) bool {
	return slices.ContainsFunc(m.facts.foreign, func(one *foreignThing) bool {
		return one.Group == of.group && (one.Version == "" || of.version == "" || one.Version == of.version) &&
			slices.ContainsFunc(one.there.Signal().Spans(fact.Unknown), func(s fact.Span) bool {
				return s.Begin <= at && (at <= s.End || m.serves().Lasts(s.End, at, fact.Yes) <= int64(showsWithin()))
			})
	}) && len(m.facts.definitionsOf(of.group)) == 0
}

// foreignIn is whether anything foreign was in a group at any time.
func (f *Facts) foreignIn(group string) bool {
	return slices.ContainsFunc(f.foreign, func(one *foreignThing) bool { return one.Group == group })
}

// foreignAt is isForeign at a time.
func (m *member) foreignAt(at int64) func(groupVersion) bool {
	return func(of groupVersion) bool { return m.isForeign(of, at) }
}

// differsByForeign is whether two documents differ, and in foreign group-versions alone:
// then the tag is another one with good reason.
func (m *member) differsByForeign(a, b *listing, at int64) bool {
	if len(m.facts.foreign) == 0 || a == nil || b == nil || a == b {
		return false
	}
	same, order := a.without(m.foreignAt(at))
	also, ordered := b.without(m.foreignAt(at))
	return same == also && order == ordered
}

// trouble is an APIService whose server may not have answered as it should at some time
// between two, or so shortly before that a member may not have fetched from it since; nil
// if there was none.
func (f *Facts) trouble(from, to int64) *foreignThing {
	for _, one := range f.foreign {
		for _, s := range one.troubled.Signal().Spans(fact.Yes) {
			if s.Begin <= to && from-int64(recoversWithin()) <= s.End {
				return one
			}
		}
	}
	return nil
}
