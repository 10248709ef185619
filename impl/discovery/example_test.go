package discovery_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientdiscovery "k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/discovery"
)

// A server that serves aggregated discovery of what it hosts, and a client of client-go that
// makes a RESTMapper of it: with the feature in two requests, and without it in one more for
// each group-version (KEP-3352).
func ExampleNewHandler() {
	core, err := discovery.NewCatalog("api", clock.RealClock{})
	if err != nil {
		fmt.Println(err)
		return
	}
	groups, err := discovery.NewCatalog("apis", clock.RealClock{})
	if err != nil {
		fmt.Println(err)
		return
	}
	groups.Set(discovery.Entry{Source: discovery.Builtin, Group: "tides.example.com", Version: apidiscoveryv2.APIVersionDiscovery{
		Version: "v1", Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
		Resources: []apidiscoveryv2.APIResourceDiscovery{{
			Resource: "tides", SingularResource: "tide", Scope: apidiscoveryv2.ScopeNamespace,
			ResponseKind: &metav1.GroupVersionKind{Kind: "Tide"}, Verbs: metav1.Verbs{"get", "list"},
		}},
	}})
	// A server that goes on serving calls Run in the place of this.
	if err := groups.Publish(); err != nil {
		fmt.Println(err)
		return
	}
	for _, versions := range [][]string{{discovery.V2}, nil} {
		requests, mapping := learn(discovery.NewHandler(discovery.Local(core), discovery.Local(groups), versions, others{}))
		fmt.Printf("versions %v: %s after %d requests\n", versions, mapping, requests)
	}
	// Output:
	// versions [v2]: tides.example.com/v1, Resource=tides after 2 requests
	// versions []: tides.example.com/v1, Resource=tides after 3 requests
}

// learn has a client find out how the kind is called in paths.
func learn(handler http.Handler) (requests int64, mapping string) {
	var counted atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counted.Add(1)
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	client, err := clientdiscovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		return 0, err.Error()
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	found, err := mapper.RESTMapping(schema.GroupKind{Group: "tides.example.com", Kind: "Tide"}, "v1")
	if err != nil {
		return counted.Load(), err.Error()
	}
	return counted.Load(), found.Resource.String()
}

// others serves what the handler passes on: the core group, of which there is nothing here,
// and the documents of single group-versions.
type others struct{}

func (others) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	body := `{"kind":"APIVersions","versions":[]}`
	if r.URL.Path == "/apis/tides.example.com/v1" {
		body = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"tides.example.com/v1","resources":[{"name":"tides","kind":"Tide","namespaced":true,"verbs":["get","list"]}]}`
	}
	_, _ = fmt.Fprintln(w, body)
}
