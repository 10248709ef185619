package storageversion

import (
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// hostingKnown doubts all verdicts where it is not certain what servers host: they were ready
// for long and not looked at, or what they say differs from each other or from etcd.
var hostingKnown = law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
	for _, s := range f.servers().all {
		if s.ready == nil || len(s.looks) > 0 && s.revision > 0 {
			continue
		}
		end := f.Over()
		if s.Exited != nil {
			end = *s.Exited
		}
		if least, _ := s.ready.Until(end); least > bounds.Of("lookedWithin") {
			l.Doubt("process %d of the API server of %s was ready, and it is not known what it hosted and at which revision of etcd (event %d)", s.Instance, s.Member, s.ready.Seq)
		} else {
			l.Add(law.Of(s.Member, *s.ready).Excused("its process ended before it was known what it hosts"))
		}
	}
	for _, why := range append(f.HostingConflicts(), f.storedConflicts()...) {
		l.Doubt("%s", why)
	}
}}

// tagsKnown doubts all verdicts where accepted writes never showed in etcd.
var tagsKnown = law.Written[*facts]{Judge: func(f *facts, l *law.Ledger, _ law.Bounds) {
	untold := f.UntoldWrites()
	for _, member := range law.SortedKeys(untold) {
		l.Doubt("%d writes that %s accepted never showed in etcd under their tag, so that it is not known what it stored", untold[member], member)
	}
}}

// storedConflicts are where etcd has what servers say that they do not host.
func (f *facts) storedConflicts() []string {
	seen := map[string]bool{}
	for k, seq := range f.kinds {
		if r, ok := f.ResourceOf(k.apiVersion, k.kind); ok && f.Hosted(r) == fact.HostedOtherwise && !f.explained(r) {
			seen[sprintf("etcd has %s, and no server gives a storage version hash for it (event %d)", r.StorageVersionName(), seq)] = true
		}
	}
	for _, w := range f.storings() {
		if f.Defined(w.resource) || w.s == nil || len(w.s.looks) == 0 || w.Stored.Revision <= w.s.looks[0].EtcdRevision {
			continue
		}
		switch x, listed := w.s.looks[0].Find(w.resource); {
		case !listed:
			seen[w.Member+" stores "+w.resource.Resource+", which its discovery does not list"] = true
		case !hasReason(x):
			seen[w.Member+" stores "+w.resource.Resource+", for which its discovery gives no storage version hash"] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// hasReason is whether a resource has a StorageVersion by what a server says of it, or a
// reason to have none.
func hasReason(r history.HostedResource) bool { return r.Persisted || r.Custom || r.Aggregated }

// explained is whether any server has a reason to have no StorageVersion for a resource
// that is stored.
func (f *facts) explained(r fact.Resource) bool {
	return f.Defined(r) || !fact.BuiltIn(history.HostedResource{Group: r.Group, Resource: r.Resource, Persisted: true}) ||
		f.anyLook(func(look *fact.Look) bool { x, ok := look.Find(r); return ok && hasReason(x) })
}

// anyLook is whether any look at any member fits.
func (f *facts) anyLook(fits func(*fact.Look) bool) bool {
	return slices.ContainsFunc(f.Members(), func(member string) bool { return slices.ContainsFunc(f.Looks(member), fits) })
}
