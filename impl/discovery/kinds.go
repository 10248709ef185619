package discovery

import (
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
