package discovery

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Plain returns the list of groups that is not aggregated, derived from the aggregated
// document: every group and version, the preferred ones first. By KEP-3352 it is the
// default for clients that do not request the aggregated document.
func Plain(groups []apidiscoveryv2.APIGroupDiscovery) []metav1.APIGroup {
	plain := make([]metav1.APIGroup, 0, len(groups))
	for _, group := range groups {
		if len(group.Versions) == 0 {
			continue
		}
		one := metav1.APIGroup{Name: group.Name}
		for _, version := range group.Versions {
			one.Versions = append(one.Versions, metav1.GroupVersionForDiscovery{
				GroupVersion: schema.GroupVersion{Group: group.Name, Version: version.Version}.String(),
				Version:      version.Version,
			})
		}
		one.PreferredVersion = one.Versions[0]
		plain = append(plain, one)
	}
	return plain
}
