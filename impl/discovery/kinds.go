package discovery

import (
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// inFull is a kind with the group and version that it has. The list that is not
// aggregated leaves out what is the same as that of the list, and what comes from
// there may still lack it; the aggregated document has no such rule, so clients
// would have to guess. A version alone is not left out: that is a kind of the
// core group.
func inFull(version schema.GroupVersion, kind metav1.GroupVersionKind) metav1.GroupVersionKind {
	switch {
	case kind.Kind == "":
	case kind.Group == "" && kind.Version == "":
		kind.Group, kind.Version = version.Group, version.Version
	case kind.Version == "":
		kind.Version = version.Version
	}
	return kind
}

// accepted are the kinds that a subresource accepts that does not say so itself. What is
// updated is sent back in the kind in which it was read, and what is created in the kind that
// discovery names (KEP-3352, acceptedTypes).
func accepted(subresource apidiscoveryv2.APISubresourceDiscovery) []metav1.GroupVersionKind {
	kind := subresource.ResponseKind
	written := slices.ContainsFunc(subresource.Verbs, func(verb string) bool { return verb == "create" || verb == "update" || verb == "patch" })
	if len(subresource.AcceptedTypes) > 0 || !written || kind == nil || kind.Kind == "" || strings.HasSuffix(kind.Kind, "Options") {
		return subresource.AcceptedTypes
	}
	return []metav1.GroupVersionKind{*kind}
}

// completeAccepted writes out which kinds the subresources of a server accept.
func completeAccepted(resources []apidiscoveryv2.APIResourceDiscovery) {
	for i := range resources {
		for j := range resources[i].Subresources {
			resources[i].Subresources[j].AcceptedTypes = accepted(resources[i].Subresources[j])
		}
	}
}

// completeKinds writes all kinds of a group-version out.
func completeKinds(version schema.GroupVersion, resources []apidiscoveryv2.APIResourceDiscovery) {
	complete := func(kind *metav1.GroupVersionKind) {
		if kind != nil {
			*kind = inFull(version, *kind)
		}
	}
	for i := range resources {
		complete(resources[i].ResponseKind)
		for j := range resources[i].Subresources {
			complete(resources[i].Subresources[j].ResponseKind)
		}
	}
}
