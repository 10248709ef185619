package migration

import (
	"cmp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func compareResources(a, b Resource) int {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Name, b.Name))
}

// listing is what a member's discovery lists from an event on.
type listing struct {
	fact.Stamp
	resources []history.HostedResource
}

func (f *Facts) observeListing(ev *history.Event) {
	all := f.listings[ev.Member]
	if n := len(all); n > 0 && slices.EqualFunc(all[n-1].resources, ev.Discovery.Resources, sameHosted) {
		return
	}
	f.listings[ev.Member] = append(all, listing{fact.StampOf(ev), ev.Discovery.Resources})
}

func sameHosted(a, b history.HostedResource) bool {
	return a.Group == b.Group && a.Resource == b.Resource && a.Persisted == b.Persisted && a.Custom == b.Custom && a.Aggregated == b.Aggregated && slices.Equal(a.Served, b.Served)
}

// listed is what a member's discovery said of a resource last before an event; nil if the
// resource was not in it. known is whether there was any answer.
func (f *Facts) listed(member string, r Resource, seq int64) (hosted *history.HostedResource, known bool) {
	all := f.listings[member]
	i, _ := slices.BinarySearchFunc(all, seq+1, func(l listing, seq int64) int { return cmp.Compare(l.Seq, seq) })
	if i == 0 {
		return nil, false
	}
	for j := range all[i-1].resources {
		if h := &all[i-1].resources[j]; h.Group == r.Group && h.Resource == r.Name {
			return h, true
		}
	}
	return nil, true
}

// servedByAll is whether no member is known not to serve a version of a resource.
func (f *Facts) servedByAll(r Resource, version string, seq int64) bool {
	for _, member := range f.Members() {
		if h, _ := f.listed(member, r, seq); h != nil && !slices.Contains(h.Served, version) {
			return false
		}
	}
	return true
}

// unknown is whether it is known of each member that it does not host a resource, and
// nothing defines it.
func (f *Facts) unknown(r Resource, at fact.Stamp) bool {
	for _, member := range f.Members() {
		if h, known := f.listed(member, r, at.Seq); !known || h != nil {
			return false
		}
	}
	return f.definition(r, at.Revision) == nil && !f.written[r]
}

// unstored is whether a resource is hosted by the API servers themselves, and none says
// that it is stored.
func (f *Facts) unstored(r Resource, at fact.Stamp) bool {
	hosted := false
	for _, member := range f.Members() {
		if h, _ := f.listed(member, r, at.Seq); h != nil {
			hosted = true
			if h.Persisted || h.Custom || h.Aggregated {
				return false
			}
		}
	}
	return hosted
}

// asked is the Stamp by which to ask how the resource of a migration was: its end, or that of
// the history.
func (m *Migration) asked() fact.Stamp {
	if end := m.end(); was(end) {
		return end
	}
	return fact.Stamp{Seq: m.facts.Seq, At: m.facts.Now, Revision: fact.Forever - 1}
}

// leaseChange is a change of an API server's identity Lease.
type leaseChange struct {
	fact.Stamp
	gone    bool
	created int64
}

func (f *Facts) observeIdentity(ev *history.Event) {
	id := strings.TrimPrefix(ev.Stored.Key, identityLeasePrefix)
	all := f.leases[id]
	now := leaseChange{fact.StampOf(ev), ev.Stored.Type == history.StoredDelete, ev.Stored.Created}
	if n := len(all); n > 0 && all[n-1].gone == now.gone && all[n-1].created == now.created {
		return // it was renewed
	}
	if !now.gone && (ev.Stored.Lease == nil || !ev.Stored.Lease.Identity) {
		return
	}
	f.leases[id] = append(all, now)
}

// joinedBefore is whether it is certain that the API server's process which a member ran
// at a moment took part at a revision before. That its identity Lease existed does not do,
// because a Lease outlives a process: the process must have been ready by then, or have
// created the Lease.
func (f *Facts) joinedBefore(member string, at, before fact.Moment) bool {
	p := f.ProcessAt(member, history.ComponentAPIServer, at)
	if p == nil {
		return false
	}
	var lease leaseChange
	for _, m := range f.Header.Members {
		if m.Name != member {
			continue
		}
		for _, c := range f.leases[m.ServerID] {
			if c.Revision <= before.Revision {
				lease = c
			}
		}
	}
	if !was(lease.Stamp) || lease.gone {
		return false
	}
	if ready := f.FirstReady(p); ready != nil && ready.Before(before) == fact.Yes {
		return true
	}
	return p.Started.Before(f.When(lease.Stamp)) == fact.Yes && lease.created == lease.Revision
}

// silent is whether the API server's process that a member started last was started
// without the StorageVersion API.
func (f *Facts) silent(member string, at int64) bool {
	p := f.LastProcess(member, history.ComponentAPIServer, at)
	return p != nil && p.Without(history.FeatureStorageVersions)
}
