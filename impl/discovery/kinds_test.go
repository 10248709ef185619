package discovery

import (
	"slices"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestKindsAreInFull(t *testing.T) {
	tests := map[string]struct{ kind, want metav1.GroupVersionKind }{
		"its own":         {metav1.GroupVersionKind{Kind: "Apple"}, metav1.GroupVersionKind{Group: "a.dev", Version: "v1", Kind: "Apple"}},
		"of its group":    {metav1.GroupVersionKind{Group: "a.dev", Kind: "Apple"}, metav1.GroupVersionKind{Group: "a.dev", Version: "v1", Kind: "Apple"}},
		"of another one":  {metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}, metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}},
		"of the core":     {metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}},
		"there is no one": {metav1.GroupVersionKind{}, metav1.GroupVersionKind{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			catalog := running(t)
			entry := hosted(Builtin, "a.dev", "v1", Priority{}, "apples")
			entry.Version.Resources[0].ResponseKind = &test.kind
			entry.Version.Resources[0].Subresources[0].ResponseKind = &test.kind
			catalog.Set(entry)
			resource := settled(t, catalog).Groups()[0].Versions[0].Resources[0]
			if *resource.ResponseKind != test.want || *resource.Subresources[0].ResponseKind != test.want {
				t.Errorf("got %v and %v, want %v", resource.ResponseKind, resource.Subresources[0].ResponseKind, test.want)
			}
		})
	}
}

// KEP-3352: acceptedTypes describes the kinds that a subresource accepts, and is empty where
// it accepts no standard types.
func TestAcceptedTypesFollowFromVerbsAndKind(t *testing.T) {
	scale := metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	other := metav1.GroupVersionKind{Group: "a.dev", Version: "v1", Kind: "Other"}
	for name, test := range map[string]struct {
		verbs []string
		kind  metav1.GroupVersionKind
		says  []metav1.GroupVersionKind
		want  []metav1.GroupVersionKind
	}{
		"updated":        {[]string{"get", "update"}, scale, nil, []metav1.GroupVersionKind{scale}},
		"created":        {[]string{"create"}, scale, nil, []metav1.GroupVersionKind{scale}},
		"only read":      {[]string{"get"}, scale, nil, nil},
		"a connection":   {[]string{"create"}, metav1.GroupVersionKind{Version: "v1", Kind: "PodExecOptions"}, nil, nil},
		"says so itself": {[]string{"update"}, scale, []metav1.GroupVersionKind{other}, []metav1.GroupVersionKind{other}},
		"without a kind": {[]string{"update"}, metav1.GroupVersionKind{}, nil, nil},
	} {
		got := accepted(apidiscoveryv2.APISubresourceDiscovery{Verbs: test.verbs, ResponseKind: &test.kind, AcceptedTypes: test.says})
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}
