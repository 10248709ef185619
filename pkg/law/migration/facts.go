package migration

import (
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Resource is a resource by its group and its plural name.
type Resource struct{ Group, Name string }

func (r Resource) String() string { return r.Name + "." + r.Group }

// storageVersion is the name of its StorageVersion.
func (r Resource) storageVersion() string {
	return fact.Resource{Group: r.Group, Resource: r.Name}.StorageVersionName()
}

// Facts are what a history says about migrations.
type Facts struct {
	*fact.History
	// Migrations are in the order in which the history told of them first; living are
	// those that were not deleted, by name.
	Migrations []*Migration
	living     map[string]*Migration
	// populations are the objects of each resource that the harness writes or that a
	// definition makes; keys finds the object that is stored under a key.
	populations map[Resource]*population
	keys        map[string]*Object
	definitions map[Resource]*definitions
	// removed are the deletions of namespaces, by name.
	removed   map[string][]fact.Stamp
	requests  requests
	exchanges []exchange
	watches   map[string][]shownEvent
}

func begin(h *fact.History) *Facts {
	return &Facts{
		History: h, living: map[string]*Migration{}, populations: map[Resource]*population{}, keys: map[string]*Object{},
		definitions: map[Resource]*definitions{}, removed: map[string][]fact.Stamp{}, watches: map[string][]shownEvent{},
	}
}

// Observe takes the next event in.
func (f *Facts) Observe(ev *history.Event) {
	switch {
	case ev.Stored != nil:
		f.observeStored(ev)
	case ev.Request != nil:
		f.observeRequest(ev)
	case ev.InterceptedRequest != nil:
		f.observeExchange(ev)
	case ev.Watch != nil && ev.Watch.Resource == watchedMigrations:
		f.watches[ev.Member] = append(f.watches[ev.Member], shownEvent{ev.Watch, ev.Seq, ev.At})
	}
}

func (f *Facts) observeStored(ev *history.Event) {
	s := ev.Stored
	namespace, isNamespace := strings.CutPrefix(s.Key, "/registry/namespaces/")
	switch {
	case s.Migration != nil, strings.Contains(s.Key, "/storageversionmigrations/"):
		f.observeMigration(ev)
	case s.CustomResource != nil, strings.Contains(s.Key, "/customresourcedefinitions/"):
		f.observeDefinition(ev)
	case isNamespace && s.Type == history.StoredDelete:
		f.removed[namespace] = append(f.removed[namespace], fact.StampOf(ev))
	case isNamespace, strings.HasPrefix(s.Key, fact.StorageVersionPrefix), strings.HasPrefix(s.Key, fact.IdentityLeasePrefix):
	default:
		f.observeObject(ev)
	}
}

// definitions are the revisions of the CustomResourceDefinition of a resource.
type definitions = fact.Values[*history.CustomResource]

// Definition is the CustomResourceDefinition of a resource from a revision on.
type Definition = fact.Value[*history.CustomResource]

func (f *Facts) observeDefinition(ev *history.Event) {
	s := ev.Stored
	switch {
	case s.Type == history.StoredDelete:
		name, group, _ := strings.Cut(s.Key[strings.LastIndex(s.Key, "/")+1:], ".")
		f.definition(Resource{group, name}).Delete(fact.StampOf(ev))
	case s.CustomResource != nil:
		r := Resource{s.CustomResource.Group, s.CustomResource.Resource}
		if f.definitions[r] == nil {
			f.definitions[r] = &definitions{}
		}
		f.definitions[r].Set(fact.StampOf(ev), s.CustomResource)
		f.population(r)
	}
}

// definition is that of a resource, with no revisions if there never was one.
func (f *Facts) definition(r Resource) *definitions {
	if d := f.definitions[r]; d != nil {
		return d
	}
	return &definitions{}
}

// undefinedSince is since when a resource has had no definition that had one before; the
// zero Stamp if it has one, or never had.
func (f *Facts) undefinedSince(r Resource, revision int64) fact.Stamp {
	if d := f.definition(r).ChangeBy(revision); d != nil && !d.There {
		return d.Stamp
	}
	return fact.Stamp{}
}

// custom is whether a definition of a resource was recorded, or the harness made one.
func (f *Facts) custom(r Resource) bool {
	return f.definitions[r] != nil || f.Defined(fact.Resource{Group: r.Group, Resource: r.Name})
}

// written is whether the harness writes objects of a resource.
func (f *Facts) written(r Resource) bool {
	return slices.ContainsFunc(f.Header.Writes, func(w history.WrittenResource) bool { return w.Group == r.Group && w.Resource == r.Name })
}

// resources are those with objects or a definition, in order.
func (f *Facts) resources() []Resource {
	return slices.SortedFunc(maps.Keys(f.populations), func(a, b Resource) int { return strings.Compare(a.String(), b.String()) })
}

// offers are what the members' API servers said last that they host of a resource, by an
// event.
func (f *Facts) offers(r Resource, seq int64) (out []history.HostedResource) {
	for _, member := range f.Members() {
		looks := f.Looks(member)
		if i := fact.Last(looks, seq, func(l *fact.Look) int64 { return l.Seq }); i >= 0 {
			if h, ok := looks[i].Find(fact.Resource{Group: r.Group, Resource: r.Name}); ok {
				out = append(out, h)
			}
		}
	}
	return out
}

// servedByAll is whether no member is known not to serve a version of a resource.
func (f *Facts) servedByAll(r Resource, version string, seq int64) bool {
	return !slices.ContainsFunc(f.offers(r, seq), func(h history.HostedResource) bool { return !slices.Contains(h.Served, version) })
}
