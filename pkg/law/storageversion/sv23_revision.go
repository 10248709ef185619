package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv23: the object's revision moves if and only if its content does, so that a migrator may
// compare it before and after (KEP-2339, version skew). That different contents have different
// revisions is etcd's doing; a write that changes nothing reported is the breach.
var sv23 = law.Together[*facts]{
	Row: law.Row{ID: "SV-23", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "changes", Tag: "change"}, {Name: "unchangedStarts", Tag: "unchanged start"},
	}},
	Parts: []law.Law[*facts]{hostingKnown, sv23Moves, sv23Starts},
}

var sv23Moves = law.Each[*facts, revision]{Over: (*facts).revisions, End: func(r revision, _ law.Bounds) law.Entry {
	switch {
	case r.before == nil || r.f.byHarness(r.of.Name, r.Stamp):
		return law.Entry{} // it is no revision of the control plane's
	case sameContent(r.before.Is, r.Is) && r.f.ByHarness(storageVersionGroup, storageVersionResource, r.of.Name, r.Stamp, false) == fact.Unknown:
		return r.Entry().Unclear("nothing in %s changed, and it is not known whether the harness wrote revision %d", r.of.Name, r.Revision)
	case sameContent(r.before.Is, r.Is):
		return r.Entry().Broken("%s moved to revision %d although nothing in it changed", r.of.Name, r.Revision).Shown(r.before.Seq, r.Seq)
	}
	return r.Entry().Met("change")
}}

// sv23Starts counts the entries that a restarted server found as it would have written them:
// the occasions at which a write without a change would have been made.
var sv23Starts = law.Each[*facts, duty]{Over: (*facts).dutiesWhenReady, End: func(d duty, _ law.Bounds) law.Entry {
	if d.s.Before == nil || !d.reported() || d.change.Revision > d.s.since {
		return law.Entry{}
	}
	return d.Entry().Met("unchanged start")
}}

// sameContent compares what is reported. Entries and conditions are keyed lists: their order
// says nothing.
func sameContent(a, b *history.StorageVersion) bool {
	return showCommon(a.Common) == showCommon(b.Common) && (a.Common == nil) == (b.Common == nil) &&
		sameList(a.Entries, b.Entries, fact.SameEntry) && sameList(a.Conditions, b.Conditions, sameCondition)
}

func sameList[T any](a, b []T, same func(x, y T) bool) bool {
	lacks := func(in, of []T) bool {
		return slices.ContainsFunc(of, func(x T) bool { return !slices.ContainsFunc(in, func(y T) bool { return same(x, y) }) })
	}
	return len(a) == len(b) && !lacks(a, b) && !lacks(b, a)
}

func sameCondition(x, y history.Condition) bool {
	return x.Type == y.Type && x.Status == y.Status && x.Transition.Equal(y.Transition) && x.Reason == y.Reason && x.Message == y.Message
}
