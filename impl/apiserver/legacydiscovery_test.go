package apiserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	listers "k8s.io/kube-aggregator/pkg/client/listers/apiregistration/v1"
)

func remoteService(version schema.GroupVersion) *apiregistrationv1.APIService {
	service := localService(version, customGroupPriority, topVersionPriority)
	service.Spec.Service = &apiregistrationv1.ServiceReference{Namespace: "default", Name: "backend"}
	return service
}

// directory is a server that hosts g/v1 and g/v2 itself, a custom group and
// one that another server hosts; and in etcd there are APIServices that some
// other release left or took away.
func directory(t *testing.T) http.Handler {
	t.Helper()
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, service := range []*apiregistrationv1.APIService{
		localService(schema.GroupVersion{Version: "v1"}, coreGroupPriority, topVersionPriority),
		localService(schema.GroupVersion{Group: "g.dev", Version: "v1"}, builtinGroupPriority, topVersionPriority),
		// Hosted by a newer release only.
		localService(schema.GroupVersion{Group: "g.dev", Version: "v3"}, builtinGroupPriority, topVersionPriority),
		localService(schema.GroupVersion{Group: "custom.dev", Version: "v1"}, customGroupPriority, topVersionPriority),
		// Its CRD is gone.
		localService(schema.GroupVersion{Group: "gone.dev", Version: "v1"}, customGroupPriority, topVersionPriority),
		remoteService(schema.GroupVersion{Group: "remote.dev", Version: "v1"}),
	} {
		if err := index.Add(service); err != nil {
			t.Fatal(err)
		}
	}
	local := []*apiregistrationv1.APIService{
		localService(schema.GroupVersion{Version: "v1"}, coreGroupPriority, topVersionPriority),
		localService(schema.GroupVersion{Group: "g.dev", Version: "v2"}, builtinGroupPriority, topVersionPriority),
		localService(schema.GroupVersion{Group: "g.dev", Version: "v1"}, builtinGroupPriority, topVersionPriority-1),
	}
	custom := func(version schema.GroupVersion) bool { return version.Group == "custom.dev" }
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	return newGroupDirectory(listers.NewAPIServiceLister(index), local, custom, next)
}

func get(t *testing.T, handler http.Handler, path, accept string, into any) int {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, path, nil)
	request.Header.Set("Accept", accept)
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	if into != nil && recorder.Code == http.StatusOK {
		if err := json.Unmarshal(recorder.Body.Bytes(), into); err != nil {
			t.Fatal(err)
		}
	}
	return recorder.Code
}

func TestGroupDirectoryListsWhatThisServerHosts(t *testing.T) {
	var list metav1.APIGroupList
	if code := get(t, directory(t), "/apis", "application/json", &list); code != http.StatusOK {
		t.Fatalf("status %d", code)
	}
	var got []string
	for _, group := range list.Groups {
		for _, version := range group.Versions {
			got = append(got, version.GroupVersion)
		}
	}
	want := []string{"g.dev/v2", "g.dev/v1", "custom.dev/v1", "remote.dev/v1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if list.Kind != "APIGroupList" || list.APIVersion != "v1" {
		t.Errorf("the document calls itself %s %s", list.APIVersion, list.Kind)
	}
}

func TestGroupDirectoryListsOneGroup(t *testing.T) {
	var group metav1.APIGroup
	if code := get(t, directory(t), "/apis/g.dev", "application/json", &group); code != http.StatusOK {
		t.Fatalf("status %d", code)
	}
	if group.PreferredVersion.Version != "v2" || len(group.Versions) != 2 {
		t.Errorf("got %+v, want v2 and v1 with v2 preferred", group)
	}
}

func TestGroupDirectoryPassesOn(t *testing.T) {
	tests := map[string]struct{ path, accept string }{
		"aggregated form":          {"/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"},
		"one version":              {"/apis/g.dev/v1", "application/json"},
		"a group nobody knows":     {"/apis/unknown.dev", "application/json"},
		"a group without its CRD":  {"/apis/gone.dev", "application/json"},
		"something else":           {"/version", "application/json"},
		"a path that begins alike": {"/apisix/g.dev", "application/json"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if code := get(t, directory(t), test.path, test.accept, nil); code != http.StatusTeapot {
				t.Errorf("status %d, want it passed on", code)
			}
		})
	}
}
