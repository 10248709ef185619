package storageversion

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv27: an aggregated server publishes its storage versions itself, or has none (KEP-2339,
// Aggregated API servers): no API server answers for what another server stores. Judged at
// the end of holds.
var sv27 = law.Each[*facts, heldAggregated]{
	Row:  law.Row{ID: "SV-27", Sources: []fact.Source{fact.Etcd, fact.Discovery}, Needs: []law.Need{{Name: "apart", Tag: "apart"}}},
	Over: (*facts).heldAggregated,
	End: func(o heldAggregated, _ law.Bounds) law.Entry {
		e := law.Of(o.name, *o.hold.Ended)
		if o.at != nil {
			for _, member := range o.f.Members() {
				if fact.EntryIn(o.at.Is.Entries, o.f.ServerID(member)) != nil {
					return e.Broken("%s has an entry of %s, and an aggregated server stores the resource", o.name, member).Shown(o.at.Seq, o.look.Seq, o.hold.Ended.Seq)
				}
			}
		}
		return e.Met("apart")
	},
}

// heldAggregated is a resource of an aggregated server at the end of a hold.
type heldAggregated struct {
	f    *facts
	hold *fact.Hold
	look *fact.Look
	name string
	// at is its StorageVersion; nil if there is none.
	at *fact.VersionRevision
}

func (f *facts) heldAggregated() (out []heldAggregated) {
	for _, hold := range f.endedHolds() {
		seen := map[string]bool{}
		for _, member := range f.Members() {
			look := f.lastServer(member, hold.Ended.Latest).lookBy(hold.Ended.Latest)
			if look == nil {
				continue
			}
			for _, r := range look.Resources {
				name := resourceOf(r).StorageVersionName()
				if r.Aggregated && !r.Custom && !seen[name] {
					seen[name] = true
					out = append(out, heldAggregated{f, hold, look, name, f.StorageVersion(name).At(hold.EndedRevision)})
				}
			}
		}
	}
	return out
}

func resourceOf(r history.HostedResource) fact.Resource {
	return fact.Resource{Group: r.Group, Resource: r.Resource}
}
