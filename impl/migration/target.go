package migration

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Origin is who hosts a resource.
type Origin string

// Origins of resources. KEP-25: a migration works for all three.
const (
	// BuiltIn: the API server itself.
	BuiltIn Origin = "built-in"
	// Custom: a CustomResourceDefinition.
	Custom Origin = "custom"
	// Aggregated: another server, behind an APIService.
	Aggregated Origin = "aggregated"
)

// Target is a resource as it can be reached.
type Target struct {
	Resource schema.GroupResource
	// Version is the preferred one. KEP-25: objects are read and written in it, to
	// avoid conversions.
	Version string
	Origin  Origin
	// Verbs that the server offers.
	Verbs sets.Set[string]
	// StorageUID is the same for resources of several groups that share their storage; empty
	// where discovery does not say. KEP-25 has a field of that name in discovery. The
	// published one is storageVersionHash, which is made of what is stored: of group, version
	// and kind, which no two resources with storages of their own have in common.
	StorageUID string
}

// GVR is where the objects are.
func (t Target) GVR() schema.GroupVersionResource { return t.Resource.WithVersion(t.Version) }

// neededVerbs are what a migration does.
var neededVerbs = []string{"list", "update"}

// Migratable says why the objects cannot be migrated, or nil if they can.
func (t Target) Migratable() error {
	var missing []string
	for _, verb := range neededVerbs {
		if !t.Verbs.Has(verb) {
			missing = append(missing, verb)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s cannot be migrated: its server does not support %s", t.Resource, strings.Join(missing, " and "))
	}
	return nil
}

// Targets are the resources in discovery.
type Targets struct {
	known map[schema.GroupResource]Target
	// silent are the groups that could not be asked, because the server behind
	// them did not answer; of their resources nothing is known.
	silent sets.Set[string]
}

// Discover reads what is served: lists are those of the preferred versions,
// silent the group-versions that could not be listed, custom what
// CustomResourceDefinitions define, aggregated what APIServices hand to others.
func Discover(lists []*metav1.APIResourceList, silent []schema.GroupVersion, custom sets.Set[schema.GroupResource], aggregated sets.Set[schema.GroupVersion]) Targets {
	targets := Targets{known: map[schema.GroupResource]Target{}, silent: sets.New[string]()}
	for _, version := range silent {
		targets.silent.Insert(version.Group)
	}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue // Not a group-version, so nothing of it can be named either.
		}
		for i := range list.APIResources {
			resource := &list.APIResources[i]
			if strings.Contains(resource.Name, "/") {
				continue // A subresource is stored with its parent.
			}
			name := schema.GroupResource{Group: version.Group, Resource: resource.Name}
			target := Target{Resource: name, Version: version.Version, Origin: BuiltIn, Verbs: sets.New(resource.Verbs...), StorageUID: resource.StorageVersionHash}
			switch {
			case aggregated.Has(version):
				target.Origin = Aggregated
			case custom.Has(name):
				target.Origin = Custom
			}
			targets.known[name] = target
		}
	}
	return targets
}

// Find looks a resource up. It is certain unless the group's server is silent.
func (t Targets) Find(resource schema.GroupResource) (target Target, found, certain bool) {
	target, found = t.known[resource]
	return target, found, found || !t.silent.Has(resource.Group)
}

// Sharing are the other resources that are stored where the given one is, by name.
//
// KEP-25: discovery tells which resources of different groups share their storage, as
// deployments of two groups did.
func (t Targets) Sharing(resource schema.GroupResource) []schema.GroupResource {
	uid := t.known[resource].StorageUID
	if uid == "" {
		return nil
	}
	var sharing []schema.GroupResource
	for other, target := range t.known {
		if other != resource && target.StorageUID == uid {
			sharing = append(sharing, other)
		}
	}
	slices.SortFunc(sharing, func(a, b schema.GroupResource) int { return strings.Compare(a.String(), b.String()) })
	return sharing
}

// Namesakes are the group-versions of lists with a resource that can be migrated and that
// another group has by the same name: only such ones may share their storage.
func Namesakes(lists []*metav1.APIResourceList) []string {
	groups := map[string]sets.Set[string]{}
	each := func(do func(list *metav1.APIResourceList, group string, resource *metav1.APIResource)) {
		for _, list := range lists {
			version, err := schema.ParseGroupVersion(list.GroupVersion)
			if err != nil {
				continue
			}
			for i := range list.APIResources {
				if sets.New(list.APIResources[i].Verbs...).HasAll(neededVerbs...) {
					do(list, version.Group, &list.APIResources[i])
				}
			}
		}
	}
	each(func(_ *metav1.APIResourceList, group string, resource *metav1.APIResource) {
		if groups[resource.Name] == nil {
			groups[resource.Name] = sets.New[string]()
		}
		groups[resource.Name].Insert(group)
	})
	namesakes := sets.New[string]()
	each(func(list *metav1.APIResourceList, _ string, resource *metav1.APIResource) {
		if groups[resource.Name].Len() > 1 && resource.StorageVersionHash == "" {
			namesakes.Insert(list.GroupVersion)
		}
	})
	return sets.List(namesakes)
}

// All are the targets that can be migrated, by name.
func (t Targets) All() []Target {
	var all []Target
	for _, target := range t.known {
		if target.Migratable() == nil {
			all = append(all, target)
		}
	}
	slices.SortFunc(all, func(a, b Target) int { return strings.Compare(a.Resource.String(), b.Resource.String()) })
	return all
}
