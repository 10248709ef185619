package discovery

import (
	"fmt"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

// hosted is an entry with the named resources.
func hosted(source Source, group, version string, priority Priority, resources ...string) Entry {
	entry := Entry{Source: source, Group: group, Priority: priority, Version: apidiscoveryv2.APIVersionDiscovery{
		Version: version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
	}}
	for _, resource := range resources {
		kind := &metav1.GroupVersionKind{Group: group, Version: version, Kind: "Kind" + resource}
		entry.Version.Resources = append(entry.Version.Resources, apidiscoveryv2.APIResourceDiscovery{
			Resource: resource, SingularResource: resource + "let", ResponseKind: kind, Scope: apidiscoveryv2.ScopeNamespace,
			Verbs: metav1.Verbs{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}, ShortNames: []string{"sn"}, Categories: []string{"all"},
			Subresources: []apidiscoveryv2.APISubresourceDiscovery{{Subresource: "status", ResponseKind: kind, Verbs: metav1.Verbs{"get", "patch", "update"}}},
		})
	}
	return entry
}

// cluster is a catalog like that of a control plane with some CRDs, up to date.
func cluster(t testing.TB, crds int) *Catalog {
	t.Helper()
	c, err := NewCatalog("apis", clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		c.Set(hosted(Builtin, fmt.Sprintf("builtin%02d.k8s.io", i), "v1", Priority{17000, 100}, "apples", "pears", "plums"))
	}
	for i := range crds {
		c.Set(hosted(Custom, fmt.Sprintf("group%04d.example.com", i), "v1", Priority{1000, 100}, fmt.Sprintf("things%04d", i)))
	}
	if err := c.Publish(); err != nil {
		t.Fatal(err)
	}
	return c
}

func gv(group, version string) schema.GroupVersion {
	return schema.GroupVersion{Group: group, Version: version}
}
