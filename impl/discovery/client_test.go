package discovery

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/utils/clock"
)

// What the KEP is for: client-go's cached discovery, which kubectl has too,
// learns of everything in two requests, counted on the wire; and of nothing new
// in two more, which are answered without a body.
func TestClientNeedsTwoRequests(t *testing.T) {
	groups := cluster(t, 300)
	core, err := NewCatalog("api", clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	core.Set(hosted(Builtin, "", "v1", Priority{}, "pods"))
	if err := core.Publish(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var answers []string
	handler := NewHandler(Local(core), Local(groups), []string{V2}, http.NotFoundHandler())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counting := &sink{header: w.Header(), status: http.StatusOK}
		handler.ServeHTTP(tee{w, counting}, r)
		mu.Lock()
		defer mu.Unlock()
		answers = append(answers, fmt.Sprintf("%s %d", r.URL.Path, counting.status))
		if counting.status == http.StatusNotModified && counting.bytes > 0 {
			t.Errorf("%s: %d bytes of nothing new", r.URL.Path, counting.bytes)
		}
		if limit := 1 << 20; counting.bytes > limit {
			t.Errorf("%s: %d bytes on the wire", r.URL.Path, counting.bytes)
		}
	}))
	defer server.Close()
	taken := func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { answers = nil }()
		return slices.Sorted(slices.Values(answers))
	}

	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	cached := memory.NewMemCacheClient(client)
	_, lists, err := cached.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cached.ServerPreferredResources(); err != nil {
		t.Fatal(err)
	}
	if _, err := restmapper.GetAPIGroupResources(cached); err != nil {
		t.Fatal(err)
	}
	// A client may have its answer before the handler has counted it; Close waits for handlers.
	server.Close()
	if got, want := taken(), []string{"/api 200", "/apis 200"}; !slices.Equal(got, want) {
		t.Fatalf("requests %v, want %v", got, want)
	}
	if got, want := namesOf(lists), namesIn(core.Document(), groups.Document()); !slices.Equal(got, want) {
		t.Errorf("%d resources, want %d", len(got), len(want))
	}
}

// TestClientIsToldNothingNew is the same client a moment later, as kubectl with
// its cache on disk: it asks with the tags that it got.
func TestClientIsToldNothingNew(t *testing.T) {
	groups := cluster(t, 300)
	server := httptest.NewServer(NewHandler(Local(groups), Local(groups), []string{V2}, http.NotFoundHandler()))
	defer server.Close()
	for _, path := range []string{"/api", "/apis"} {
		tag := ""
		for _, want := range []int{http.StatusOK, http.StatusNotModified} {
			request, err := http.NewRequest(http.MethodGet, server.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Accept", as(testJSON, V2)+","+testJSON)
			request.Header.Set("If-None-Match", tag)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if body := bodyOf(t, response); response.StatusCode != want || (want == http.StatusNotModified) != (len(body) == 0) {
				t.Errorf("%s: %s with %d bytes, want %d", path, response.Status, len(body), want)
			}
			response.Body.Close()
			tag = response.Header.Get("ETag")
		}
	}
}

// tee writes to a client and counts.
type tee struct {
	http.ResponseWriter
	count *sink
}

func (w tee) WriteHeader(status int) {
	w.count.WriteHeader(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w tee) Write(p []byte) (int, error) {
	_, _ = w.count.Write(p)
	return w.ResponseWriter.Write(p)
}

func namesOf(lists []*metav1.APIResourceList) []string {
	var all []string
	for _, list := range lists {
		for _, resource := range list.APIResources {
			all = append(all, list.GroupVersion+" "+resource.Name)
		}
	}
	slices.Sort(all)
	return all
}

func namesIn(documents ...*Document) []string {
	var all []string
	for _, document := range documents {
		for _, group := range document.Groups() {
			for _, version := range group.Versions {
				name := metav1.GroupVersion{Group: group.Name, Version: version.Version}.String()
				for _, resource := range version.Resources {
					all = append(all, name+" "+resource.Resource)
					for _, subresource := range resource.Subresources {
						all = append(all, name+" "+resource.Resource+"/"+subresource.Subresource)
					}
				}
			}
		}
	}
	slices.Sort(all)
	return all
}
