package discovery

import (
	"fmt"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// readAggregated reads the aggregated document of another server. Whether it may
// speak for a group is not decided here.
func readAggregated(version string, raw []byte) (answer, error) {
	list := &apidiscoveryv2.APIGroupDiscoveryList{}
	if version == V2beta1 {
		beta := &apidiscoveryv2beta1.APIGroupDiscoveryList{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, beta); err != nil {
			return answer{}, fmt.Errorf("read its %s document: %w", version, err)
		}
		if err := known.Convert(beta, list, nil); err != nil {
			return answer{}, fmt.Errorf("convert its %s document: %w", version, err)
		}
	} else if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, list); err != nil {
		return answer{}, fmt.Errorf("read its %s document: %w", version, err)
	}
	a := answer{versions: map[schema.GroupVersion]apidiscoveryv2.APIVersionDiscovery{}}
	for _, group := range list.Items {
		for _, one := range group.Versions {
			version := schema.GroupVersion{Group: group.Name, Version: one.Version}
			if _, twice := a.versions[version]; !twice && sound(group.Name, one.Version) {
				a.versions[version] = adopt(version, one)
				a.order = append(a.order, version)
			}
		}
	}
	return a, nil
}

// readUnaggregated reads the list of resources of one group-version from a server
// without the aggregated document.
func readUnaggregated(version schema.GroupVersion, raw []byte) (apidiscoveryv2.APIVersionDiscovery, error) {
	list := &metav1.APIResourceList{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, list); err != nil {
		return apidiscoveryv2.APIVersionDiscovery{}, fmt.Errorf("read its list of resources: %w", err)
	}
	if list.GroupVersion != version.String() {
		return apidiscoveryv2.APIVersionDiscovery{}, fmt.Errorf("its list of resources is of %q", list.GroupVersion)
	}
	return adopt(version, apidiscoveryv2.APIVersionDiscovery{Version: version.Version, Resources: aggregate(version, list.APIResources)}), nil
}

// aggregate is a list of resources in the shape of the aggregated document,
// where subresources are below their resource.
func aggregate(version schema.GroupVersion, list []metav1.APIResource) []apidiscoveryv2.APIResourceDiscovery {
	var resources []apidiscoveryv2.APIResourceDiscovery
	at := map[string]int{}
	for _, one := range list {
		if strings.Contains(one.Name, "/") {
			continue
		}
		at[one.Name] = len(resources)
		resources = append(resources, apidiscoveryv2.APIResourceDiscovery{
			Resource: one.Name, SingularResource: one.SingularName, Scope: scopeOf(one), ResponseKind: kindOf(version, one),
			Verbs: one.Verbs, ShortNames: one.ShortNames, Categories: one.Categories,
		})
	}
	for _, one := range list {
		parent, subresource, ok := strings.Cut(one.Name, "/")
		if !ok {
			continue
		}
		if _, found := at[parent]; !found {
			// A subresource may be all there is.
			at[parent] = len(resources)
			resources = append(resources, apidiscoveryv2.APIResourceDiscovery{Resource: parent, Scope: scopeOf(one)})
		}
		resource := &resources[at[parent]]
		resource.Subresources = append(resource.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource: subresource, ResponseKind: kindOf(version, one), Verbs: one.Verbs,
		})
	}
	return resources
}

func scopeOf(resource metav1.APIResource) apidiscoveryv2.ResourceScope {
	if resource.Namespaced {
		return apidiscoveryv2.ScopeNamespace
	}
	return apidiscoveryv2.ScopeCluster
}

func kindOf(version schema.GroupVersion, resource metav1.APIResource) *metav1.GroupVersionKind {
	if resource.Kind == "" {
		return nil
	}
	kind := inFull(version, metav1.GroupVersionKind{Group: resource.Group, Version: resource.Version, Kind: resource.Kind})
	return &kind
}

// adopt prepares a server's list of a group-version for the document of another
// server: it leaves out resources that clients cannot use, removes duplicates, and
// sorts the list, so that the order is the same on every server.
func adopt(version schema.GroupVersion, told apidiscoveryv2.APIVersionDiscovery) apidiscoveryv2.APIVersionDiscovery {
	adopted := apidiscoveryv2.APIVersionDiscovery{Version: version.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
	if isStale(told) {
		// It is itself not sure of it.
		adopted.Freshness = apidiscoveryv2.DiscoveryFreshnessStale
	}
	for _, resource := range told.Resources {
		if resource.Resource == "" || !soundResource(resource) || resource.Scope != apidiscoveryv2.ScopeCluster && resource.Scope != apidiscoveryv2.ScopeNamespace {
			continue
		}
		resource.ResponseKind = present(resource.ResponseKind)
		resource.Verbs = append(metav1.Verbs{}, resource.Verbs...)
		var subresources []apidiscoveryv2.APISubresourceDiscovery
		for _, subresource := range resource.Subresources {
			if subresource.Subresource == "" || !soundSubresource(subresource) {
				continue
			}
			subresource.ResponseKind = present(subresource.ResponseKind)
			subresource.Verbs = append(metav1.Verbs{}, subresource.Verbs...)
			subresources = append(subresources, subresource)
		}
		resource.Subresources = once(subresources, func(s apidiscoveryv2.APISubresourceDiscovery) string { return s.Subresource })
		adopted.Resources = append(adopted.Resources, resource)
	}
	adopted.Resources = once(adopted.Resources, func(r apidiscoveryv2.APIResourceDiscovery) string { return r.Resource })
	return adopted
}

// sound reports whether words can be names. All names in discovery are of
// printable ASCII without spaces; anything else is valid in one encoding and not
// in another, and so would make the document invalid for all clients.
func sound(words ...string) bool {
	for _, word := range words {
		for i := range len(word) {
			if word[i] <= ' ' || word[i] > '~' {
				return false
			}
		}
	}
	return true
}

func soundResource(r apidiscoveryv2.APIResourceDiscovery) bool {
	return sound(r.Resource, r.SingularResource) && soundKind(r.ResponseKind) &&
		sound(r.Verbs...) && sound(r.ShortNames...) && sound(r.Categories...)
}

func soundSubresource(s apidiscoveryv2.APISubresourceDiscovery) bool {
	for i := range s.AcceptedTypes {
		if !soundKind(&s.AcceptedTypes[i]) {
			return false
		}
	}
	return sound(s.Subresource) && soundKind(s.ResponseKind) && sound(s.Verbs...)
}

func soundKind(kind *metav1.GroupVersionKind) bool {
	return kind == nil || sound(kind.Group, kind.Version, kind.Kind)
}

// present puts an empty kind where there is none: the first clients of the
// aggregated document crash without (kubernetes/kubernetes#118361).
func present(kind *metav1.GroupVersionKind) *metav1.GroupVersionKind {
	if kind == nil {
		return &metav1.GroupVersionKind{}
	}
	return kind
}

// once sorts a list by name, and keeps the first of each.
func once[T any](list []T, name func(T) string) []T {
	slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	return slices.CompactFunc(list, func(a, b T) bool { return name(a) == name(b) })
}
