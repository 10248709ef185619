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
var sv23 = law.Written[*facts]{
	Row: law.Row{ID: "SV-23", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "changes", Tag: "change"}, {Name: "unchangedStarts", Tag: "unchanged start"},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtHosting(l, bounds)
		for _, r := range f.revisions() {
			at := f.When(r.Stamp)
			switch {
			case r.before == nil || f.harness.edited(r.version.Name, r.Stamp):
				// It is no revision of the control plane's.
			case !sameContent(r.before.Content, r.Content):
				l.Met(r.version.Name, at, "change")
			default:
				l.Broken(r.version.Name, at, law.Evidence(r.before.Seq, r.Seq), "%s moved to revision %d although nothing in it changed", r.version.Name, r.Revision)
			}
		}
		for _, s := range f.allServers() {
			if s.Before != nil && !s.silent() && s.ready != nil && s.revision > 0 && len(s.looks) > 0 && f.told(l, s.Member, *s.ready, s.revision) {
				f.countUnchanged(l, s)
			}
		}
	},
}

// countUnchanged notes the entries that a restarted server found as it would have written
// them: the occasions at which a write without a change would have been made.
func (f *facts) countUnchanged(l *law.Ledger, s *server) {
	for _, r := range s.looks[0].Resources {
		name := fact.Resource{Group: r.Group, Resource: r.Resource}.StorageVersionName()
		if !fact.BuiltIn(r) {
			continue
		}
		if change := f.StorageVersion(name).ChangeAt(s.id, s.revision); change != nil && change.Present() && change.Revision <= s.since {
			l.MetBy(s.Member, name, *s.ready, "unchanged start")
		}
	}
}

// sameContent compares what is reported. Entries and conditions are keyed lists: their order
// says nothing.
func sameContent(a, b *history.StorageVersion) bool {
	return showCommon(a.Common) == showCommon(b.Common) && (a.Common == nil) == (b.Common == nil) &&
		sameKeyed(a.Entries, b.Entries, func(e history.Entry) string { return e.ServerID }, fact.SameEntry) &&
		sameKeyed(a.Conditions, b.Conditions, func(c history.Condition) string { return c.Type }, sameCondition)
}

func sameKeyed[T any](a, b []T, key func(T) string, same func(x, y T) bool) bool {
	if len(a) != len(b) {
		return false
	}
	in := func(list []T, x T) bool {
		i := slices.IndexFunc(list, func(y T) bool { return key(y) == key(x) })
		return i >= 0 && same(x, list[i])
	}
	for i := range a {
		if !in(b, a[i]) || !in(a, b[i]) {
			return false
		}
	}
	return true
}

func sameCondition(x, y history.Condition) bool {
	return x.Type == y.Type && x.Status == y.Status && x.Transition.Equal(y.Transition) && x.Reason == y.Reason && x.Message == y.Message
}
