package discovery

import (
	"testing"

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
