package migration

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Where objects are stored in etcd, by the layout that Kubernetes and the reference share.
const (
	migrationInfix       = "/storageversionmigrations/"
	definitionInfix      = "/customresourcedefinitions/"
	namespacePrefix      = "/registry/namespaces/"
	storageVersionPrefix = "/registry/storageversions/"
	identityLeasePrefix  = "/registry/leases/kube-system/"
	leaderLease          = identityLeasePrefix + "kube-controller-manager"
)

// Resource is a resource by its group and its plural name.
type Resource struct{ Group, Name string }

func (r Resource) String() string { return r.Name + "." + r.Group }

// storageVersionOf is the resource that a StorageVersion of a name is about.
func storageVersionOf(name string) Resource {
	i := strings.LastIndex(name, ".")
	if i < 0 {
		return Resource{Name: name}
	}
	r := Resource{name[:i], name[i+1:]}
	if r.Group == "core" {
		r.Group = ""
	}
	return r
}

// Facts are what a history says about migrations.
type Facts struct {
	*fact.History
	// written are the resources that the harness writes.
	written map[Resource]bool
	// Migrations are in the order in which the history told of them first; living are
	// those that were not deleted, by name.
	Migrations []*Migration
	living     map[string]*Migration

	populations map[Resource]*population
	// keys finds the object that is stored under a key.
	keys        map[string]*Object
	definitions map[Resource][]Definition
	announced   map[Resource]*announcement
	agreements  map[Resource][]Agreement
	encodings   map[Resource]map[string][]encoded
	leases      map[string][]leaseChange
	leaders     []leader
	listings    map[string][]listing
	removed     map[removal][]fact.Stamp
	requests    requests
	exchanges   []exchange
	watches     watches
	cache       cache
}

func begin(h *fact.History) *Facts {
	f := &Facts{
		History: h, written: map[Resource]bool{}, living: map[string]*Migration{}, populations: map[Resource]*population{}, keys: map[string]*Object{},
		definitions: map[Resource][]Definition{}, announced: map[Resource]*announcement{}, agreements: map[Resource][]Agreement{}, encodings: map[Resource]map[string][]encoded{}, leases: map[string][]leaseChange{},
		listings: map[string][]listing{}, removed: map[removal][]fact.Stamp{}, requests: newRequests(), watches: watches{},
	}
	for _, w := range h.Header.Writes {
		f.written[Resource{w.Group, w.Resource}] = true
	}
	return f
}

// Observe takes the next event in.
func (f *Facts) Observe(ev *history.Event) {
	switch {
	case ev.Stored != nil:
		f.observeStored(ev)
	case ev.Request != nil:
		f.observeRequest(ev)
	case ev.Exchange != nil:
		f.observeExchange(ev)
	case ev.Discovery != nil:
		f.observeListing(ev)
	case ev.Watch != nil:
		f.observeWatch(ev)
	}
}

func (f *Facts) observeStored(ev *history.Event) {
	s := ev.Stored
	if what, ok := removalOf(s.Key); ok && s.Type == history.StoredDelete {
		f.removed[what] = append(f.removed[what], fact.StampOf(ev))
	}
	if s.Type == history.StoredPut && s.Writer != "" {
		f.requests.shown(writeID{s.Writer, s.Write})
	}
	switch {
	case s.Migration != nil, strings.Contains(s.Key, migrationInfix):
		f.observeMigration(ev)
	case s.CustomResource != nil, strings.Contains(s.Key, definitionInfix):
		f.observeDefinition(ev)
	case strings.HasPrefix(s.Key, storageVersionPrefix):
		f.observeAnnouncement(ev)
	case s.Key == leaderLease:
		f.observeLeader(ev)
	case strings.HasPrefix(s.Key, identityLeasePrefix):
		f.observeIdentity(ev)
	case strings.HasPrefix(s.Key, namespacePrefix):
	default:
		f.observeObject(ev)
	}
}

// cache keeps derived facts while no further event was observed.
type cache struct {
	seq  int64
	kept map[any]any
}

func cached[K comparable, T any](f *Facts, key K, derive func() T) T {
	if f.cache.seq != f.Seq || f.cache.kept == nil {
		f.cache = cache{seq: f.Seq, kept: map[any]any{}}
	}
	if v, ok := f.cache.kept[key]; ok {
		return v.(T)
	}
	v := derive()
	f.cache.kept[key] = v
	return v
}
