package apiserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func version(name string) apidiscoveryv2.APIVersionDiscovery {
	return apidiscoveryv2.APIVersionDiscovery{Version: name, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
}

// What the servers tell is ranked as their APIServices are, whichever tells
// first, and each takes out only what it put in.
func TestDiscoveryFeed(t *testing.T) {
	c, err := newCatalogs(Options{})
	if err != nil {
		t.Fatal(err)
	}
	builtin := newDiscoveryFeed(c.groups)
	custom := builtin.WithSource(aggregated.CRDSource)
	custom.AddGroupVersion("custom.dev", version("v1"))
	custom.AddGroupVersion("shared.dev", version("v1"))
	builtin.AddGroupVersion("shared.dev", version("v1"))
	builtin.AddGroupVersion("shared.dev", version("v2"))
	builtin.AddGroupVersion("first.dev", version("v1"))
	notified := 0
	builtin.AddInvalidationCallback(func() { notified++ })
	services := []*apiregistrationv1.APIService{
		localService(schema.GroupVersion{Group: "shared.dev", Version: "v2"}, builtinGroupPriority, topVersionPriority),
		localService(schema.GroupVersion{Group: "shared.dev", Version: "v1"}, builtinGroupPriority, topVersionPriority-1),
		localService(schema.GroupVersion{Group: "first.dev", Version: "v1"}, aggregatorGroupPriority, topVersionPriority),
	}
	list := func() []string {
		if err := c.rank(services); err != nil {
			t.Fatal(err)
		}
		request := httptest.NewRequest(http.MethodGet, "/apis", nil)
		recorder := httptest.NewRecorder()
		builtin.ServeHTTP(recorder, request)
		var groups metav1.APIGroupList
		if err := json.Unmarshal(recorder.Body.Bytes(), &groups); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, group := range groups.Groups {
			for _, version := range group.Versions {
				all = append(all, version.GroupVersion)
			}
		}
		return all
	}
	if got, want := list(), []string{"first.dev/v1", "shared.dev/v2", "shared.dev/v1", "custom.dev/v1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	builtin.RemoveGroup("shared.dev")
	custom.SetGroupVersionPriority(metav1.GroupVersion{Group: "custom.dev", Version: "v1"}, customGroupPriority+1, topVersionPriority)
	if got, want := list(), []string{"first.dev/v1", "custom.dev/v1", "shared.dev/v1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	custom.RemoveGroupVersion(metav1.GroupVersion{Group: "custom.dev", Version: "v1"})
	custom.SetGroups([]apidiscoveryv2.APIGroupDiscovery{{ObjectMeta: metav1.ObjectMeta{Name: "other.dev"}, Versions: []apidiscoveryv2.APIVersionDiscovery{version("v1")}}})
	if got, want := list(), []string{"first.dev/v1", "other.dev/v1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if notified != 3 {
		t.Errorf("notified %d times of 3 documents", notified)
	}
}

func TestEstablishedVersions(t *testing.T) {
	crd := func(group string, established apiextensionsv1.ConditionStatus) *apiextensionsv1.CustomResourceDefinition {
		return &apiextensionsv1.CustomResourceDefinition{
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: group, Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Served: true}, {Name: "v0", Served: false},
			}},
			Status: apiextensionsv1.CustomResourceDefinitionStatus{Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{
				{Type: apiextensionsv1.Established, Status: established},
			}},
		}
	}
	got := establishedVersions([]*apiextensionsv1.CustomResourceDefinition{
		crd("a", apiextensionsv1.ConditionTrue), crd("b", apiextensionsv1.ConditionFalse),
	})
	if want := []schema.GroupVersion{{Group: "a", Version: "v1"}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
