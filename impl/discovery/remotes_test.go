package discovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/utils/clock"
)

// fleet is some aggregated servers, by the names of their Services, and what a
// control plane makes of them. It lives in the time of a synctest bubble.
type fleet struct {
	t       *testing.T
	catalog *Catalog
	remotes *Remotes

	mu       sync.Mutex
	servers  map[string]http.RoundTripper
	requests map[string][]*http.Request
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	catalog := running(t)
	f := &fleet{t: t, catalog: catalog, servers: map[string]http.RoundTripper{}, requests: map[string][]*http.Request{}}
	f.remotes = NewRemotes(catalog, f.dial, clock.RealClock{}, rand.New(rand.NewPCG(1, 2)))
	go f.remotes.Run(t.Context())
	return f
}

func (f *fleet) dial(b Backend) (http.RoundTripper, error) {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		f.mu.Lock()
		server := f.servers[b.Name]
		f.requests[b.Name] = append(f.requests[b.Name], r)
		f.mu.Unlock()
		if server == nil {
			return nil, errors.New("connection refused")
		}
		return server.RoundTrip(r)
	}), nil
}

// is makes a server behave in some way from now on.
func (f *fleet) is(name string, server http.RoundTripper) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.servers[name] = server
}

func (f *fleet) asked(name string) []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests[name])
}

func service(name, group, version string) Service {
	return Service{
		GroupVersion: schema.GroupVersion{Group: group, Version: version}, Priority: Priority{1000, 10},
		Backend: Backend{Namespace: "default", Name: name, Port: 443},
	}
}

// after lets some time pass, and tells how each group-version is listed.
func (f *fleet) after(d time.Duration) map[string]string {
	f.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	listed := map[string]string{}
	for _, group := range settled(f.t, f.catalog).Groups() {
		for _, version := range group.Versions {
			var resources []string
			for _, resource := range version.Resources {
				resources = append(resources, resource.Resource)
			}
			listed[group.Name+"/"+version.Version] = string(version.Freshness) + " " + strings.Join(resources, ",")
		}
	}
	return listed
}

func (f *fleet) expect(when string, listed map[string]string, want ...string) {
	f.t.Helper()
	var got []string
	for version, state := range listed {
		got = append(got, version+" "+state)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		f.t.Errorf("%s: got %q, want %q", when, got, want)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(status int, contentType string, body io.Reader, headers ...string) *http.Response {
	header := http.Header{"Content-Type": {contentType}}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body)}
}

// answering is a server that gives one answer to everything.
func answering(status int, contentType, body string, headers ...string) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return response(status, contentType, strings.NewReader(body), headers...), nil
	}
}

// hosting is a server that does all as it should.
func hosting(entries ...Entry) roundTrip {
	catalog, err := NewCatalog("apis", clock.RealClock{})
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		catalog.Set(entry)
	}
	if err := catalog.Publish(); err != nil {
		panic(err)
	}
	handler := NewHandler(Local(catalog), Local(catalog), versions, http.NotFoundHandler())
	return func(r *http.Request) (*http.Response, error) {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r)
		return recorder.Result(), nil
	}
}

func hanging(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// drip is a body of which a byte comes now and then.
type drip struct{ ctx context.Context }

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		p[0] = ' '
		return 1, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func TestOutageAndRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.remotes.Track(service("a", "a.dev", "v1"))
		f.expect("down from the start", f.after(time.Minute), "a.dev/v1 Stale ")
		f.is("a", hosting(hosted(Builtin, "a.dev", "v1", Priority{}, "apples")))
		f.expect("up", f.after(fetchRetryMax), "a.dev/v1 Current apples")
		f.is("a", answering(503, "text/plain", "sorry"))
		f.expect("down again", f.after(FetchInterval+time.Second), "a.dev/v1 Stale apples")
		f.is("a", roundTrip(hanging))
		f.expect("hanging", f.after(time.Hour), "a.dev/v1 Stale apples")
		f.is("a", hosting(hosted(Builtin, "a.dev", "v1", Priority{}, "pears")))
		f.expect("up again", f.after(fetchRetryMax+fetchTimeout), "a.dev/v1 Current pears")
	})
}

func TestFetchesAreConditional(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.is("a", hosting(hosted(Builtin, "a.dev", "v1", Priority{}, "apples"), hosted(Builtin, "a.dev", "v2", Priority{}, "pears")))
		f.remotes.Track(service("a", "a.dev", "v1"))
		f.expect("at first", f.after(0), "a.dev/v1 Current apples")
		time.Sleep(10 * time.Minute)
		requests := f.asked("a")
		if len(requests) < 20 || len(requests) > 41 {
			t.Fatalf("%d requests in 10 minutes", len(requests))
		}
		full := 0
		for _, r := range requests {
			if r.Header.Get("If-None-Match") == "" {
				full++
			}
			if r.URL.Path != "/apis" {
				t.Errorf("asked for %s", r.URL.Path)
			}
		}
		if want := (len(requests) + fullEvery - 1) / fullEvery; full != want {
			t.Errorf("%d of %d requests were not conditional, want %d", full, len(requests), want)
		}
		// What comes up while the server has nothing new is known from before.
		f.remotes.Track(service("a", "a.dev", "v2"))
		f.expect("another version", f.after(fetchSpacing), "a.dev/v1 Current apples", "a.dev/v2 Current pears")
	})
}

func TestServerWithoutAggregatedDiscovery(t *testing.T) {
	list := func(version string) string {
		return `{"kind":"APIResourceList","groupVersion":"` + version + `","resources":[
			{"name":"apples/scale","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale","verbs":["get"]},
			{"name":"apples","singularName":"apple","namespaced":true,"kind":"Apple","verbs":["get","list"],"shortNames":["ap"],"categories":["all"],"storageVersionHash":"x"},
			{"name":"trees/shake","namespaced":false,"kind":"","verbs":["create"]}]}`
	}
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.is("a", roundTrip(func(r *http.Request) (*http.Response, error) {
			switch r.URL.Path {
			case "/apis":
				return response(200, testJSON, strings.NewReader(`{"kind":"APIGroupList"}`)), nil
			case "/apis/a.dev/v1":
				return response(200, testJSON, strings.NewReader(list("a.dev/v1"))), nil
			case "/apis/a.dev/v3":
				return response(200, testJSON, strings.NewReader(list("a.dev/v1"))), nil
			}
			return response(404, "text/plain", strings.NewReader("")), nil
		}))
		for _, version := range []string{"v1", "v2", "v3"} {
			f.remotes.Track(service("a", "a.dev", version))
		}
		f.expect("fetched one by one", f.after(0), "a.dev/v1 Current apples,trees", "a.dev/v2 Stale ", "a.dev/v3 Stale ")
		resources := f.catalog.Document().Groups()[0].Versions[2].Resources
		apples, trees := resources[0], resources[1]
		if apples.ResponseKind.Group != "a.dev" || apples.ResponseKind.Version != "v1" || apples.SingularResource != "apple" ||
			apples.ShortNames[0] != "ap" || apples.Categories[0] != "all" || apples.Scope != apidiscoveryv2.ScopeNamespace ||
			*apples.Subresources[0].ResponseKind != (metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}) {
			t.Errorf("got %+v", apples)
		}
		if trees.Subresources[0].Subresource != "shake" || trees.Scope != apidiscoveryv2.ScopeCluster || trees.Subresources[0].ResponseKind == nil {
			t.Errorf("got %+v", trees)
		}
	})
}

// AD-22: whatever a server answers, the document stays sound, and what others
// host is listed as if it were alone.
func TestMisbehavingServers(t *testing.T) {
	content := as(testJSON, V2)
	tests := map[string]struct {
		server http.RoundTripper
		want   string
	}{
		"hangs":              {roundTrip(hanging), "Stale "},
		"garbage":            {answering(200, content, "\x00{{{"), "Stale "},
		"another type":       {answering(200, content, `{"items":"none"}`), "Stale "},
		"a wrong promise":    {answering(200, as(testProtobuf, V2), "k8s\x00"), "Stale "},
		"an HTML page":       {answering(200, "text/html", "<p>"), "Stale "},
		"always 304":         {answering(304, "", ""), "Stale "},
		"304 with a tag":     {answering(304, "", "", "ETag", `"A"`), "Stale "},
		"a redirection":      {answering(302, "", "", "Location", "https://elsewhere.dev/apis"), "Stale "},
		"status 500":         {answering(500, content, `{"items":[]}`), "Stale "},
		"too many":           {answering(429, "", ""), "Stale "},
		"forbidden":          {answering(403, testJSON, `{"kind":"Status"}`), "Stale "},
		"drips":              {roundTrip(func(r *http.Request) (*http.Response, error) { return response(200, content, drip{r.Context()}), nil }), "Stale "},
		"a giant":            {roundTrip(func(*http.Request) (*http.Response, error) { return response(200, content, endless{}), nil }), "Stale "},
		"an empty list":      {answering(200, content, `{"items":[]}`), "Current "},
		"null":               {answering(200, content, `null`), "Current "},
		"foreign groups":     {answering(200, content, `{"items":[{"metadata":{"name":"good.dev"},"versions":[{"version":"v1","resources":[{"resource":"evil","scope":"Cluster"}]}]},{"metadata":{"name":"apps"},"versions":[{"version":"v1"}]}]}`), "Current "},
		"null kinds":         {answering(200, content, `{"items":[{"metadata":{"name":"bad.dev"},"versions":[{"version":"v1","resources":[{"resource":"x","scope":"Cluster","responseKind":null,"subresources":[{"subresource":"y"}]}]}]}]}`), "Current x"},
		"control characters": {answering(200, content, "{\"items\":[{\"metadata\":{\"name\":\"bad.dev\"},\"versions\":[{\"version\":\"v1\",\"resources\":[{\"resource\":\"x\",\"scope\":\"Cluster\",\"subresources\":[{\"subresource\":\"s\\u0007\"}]},{\"resource\":\"y\x7f\",\"scope\":\"Cluster\"},{\"resource\":\"z\",\"scope\":\"Cluster\",\"shortNames\":[\"\\ufeff\"]}]}]}]}"), "Current x"},
		"unsure itself":      {answering(200, content, `{"items":[{"metadata":{"name":"bad.dev"},"versions":[{"version":"v1","freshness":"Stale","resources":[{"resource":"x","scope":"Cluster"}]}]}]}`), "Stale x"},
		"twice and broken":   {answering(200, content, `{"items":[{"metadata":{"name":"bad.dev","resourceVersion":"7"},"versions":[{"version":"v1","resources":[{"resource":"z","scope":"Cluster"},{"resource":"x","scope":"Cluster"},{"resource":"x","scope":"Cluster"},{"resource":"","scope":"Cluster"},{"resource":"w","scope":"Nowhere"}]},{"version":"v1"}]},{"metadata":{"name":"bad.dev"},"versions":[{"version":"v1"}]}]}`), "Current x,z"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				f.is("good", hosting(hosted(Builtin, "good.dev", "v1", Priority{}, "apples")))
				f.is("bad", test.server)
				f.remotes.Track(service("bad", "bad.dev", "v1"))
				f.remotes.Track(service("good", "good.dev", "v1"))
				f.expect("at once", map[string]string{"good.dev/v1": f.after(0)["good.dev/v1"]}, "good.dev/v1 Current apples")
				f.expect("after a while", f.after(10*time.Minute), "bad.dev/v1 "+test.want, "good.dev/v1 Current apples")
				for _, mediaType := range mediaTypes {
					if _, err := f.catalog.Document().Bytes(Form{Version: V2, MediaType: mediaType}, false); err != nil {
						t.Errorf("%s: %v", mediaType, err)
					}
				}
				raw, err := f.catalog.Document().Bytes(Form{Version: V2, MediaType: testJSON}, false)
				if err != nil || bytes.Contains(raw, []byte("null")) || bytes.Contains(raw, []byte("resourceVersion")) {
					t.Errorf("got %s, %v", raw, err)
				}
				if requests := len(f.asked("bad")); requests > 120 {
					t.Errorf("%d requests in 10 minutes", requests)
				}
			})
		})
	}
}

// endless is a body without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// AD-19: removal leaves no ghost, also not by a fetch that was under way.
func TestRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		release := make(chan struct{})
		server := hosting(hosted(Builtin, "a.dev", "v1", Priority{}, "apples"))
		f.is("a", roundTrip(func(r *http.Request) (*http.Response, error) {
			<-release
			return server(r)
		}))
		f.catalog.Set(hosted(Custom, "a.dev", "v1", Priority{1, 1}, "customs"))
		f.remotes.Track(service("a", "a.dev", "v1"))
		f.remotes.Track(service("a", "a.dev", "v2"))
		f.expect("before", f.after(0), "a.dev/v1 Stale ", "a.dev/v2 Stale ")
		f.remotes.Untrack(schema.GroupVersion{Group: "a.dev", Version: "v1"})
		f.remotes.Untrack(schema.GroupVersion{Group: "a.dev", Version: "v2"})
		f.remotes.Untrack(schema.GroupVersion{Group: "a.dev", Version: "never"})
		close(release)
		f.expect("the CRD comes out", f.after(0), "a.dev/v1 Current customs")
		before := len(f.asked("a"))
		f.expect("later", f.after(time.Hour), "a.dev/v1 Current customs")
		if after := len(f.asked("a")); after != before {
			t.Errorf("%d more requests to a server that nothing leads to", after-before)
		}
		f.remotes.Track(service("a", "a.dev", "v1"))
		f.expect("back again", f.after(0), "a.dev/v1 Current apples")
	})
}

func TestAnotherService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.is("a", hosting(hosted(Builtin, "a.dev", "v1", Priority{}, "apples")))
		one := service("a", "a.dev", "v1")
		f.remotes.Track(one)
		f.expect("at first", f.after(0), "a.dev/v1 Current apples")
		one.Backend.CABundle = "rotated"
		f.is("a", nil)
		f.remotes.Track(one)
		f.expect("another authority, and down", f.after(time.Second), "a.dev/v1 Stale apples")
		one.Backend.Name = "b"
		f.remotes.Track(one)
		f.expect("another Service, and down", f.after(time.Second), "a.dev/v1 Stale ")
		f.is("b", hosting(hosted(Builtin, "a.dev", "v1", Priority{}, "pears")))
		f.remotes.Hurry(one.GroupVersion)
		f.expect("up, and told so", f.after(fetchSpacing), "a.dev/v1 Current pears")
		if _, ok := f.remotes.workers[service("a", "", "").Backend]; ok || len(f.remotes.workers) != 1 {
			t.Errorf("%d workers for one Service", len(f.remotes.workers))
		}
		f.remotes.Track(service("c", "", "v1"))
		if f.catalog.Has(Remote, schema.GroupVersion{Version: "v1"}) {
			t.Error("the core group is taken from another server")
		}
	})
}

func TestPauseUntilFetch(t *testing.T) {
	for failed, want := range []time.Duration{FetchInterval, fetchRetry, 2 * fetchRetry, 4 * fetchRetry} {
		if got := pauseUntilFetch(failed, 1); got != want {
			t.Errorf("%d failed: at most %s, want %s", failed, got, want)
		}
	}
	if got := pauseUntilFetch(1000, 1); got != fetchRetryMax {
		t.Errorf("at most %s, want %s", got, fetchRetryMax)
	}
	if got := pauseUntilFetch(0, 0); got != FetchInterval/2 {
		t.Errorf("at least %s", got)
	}
}

// Whatever a server tells, it can be told on in every form.
func FuzzRemoteDocument(f *testing.F) {
	f.Add(`{"items":[{"metadata":{"name":"a.dev"},"versions":[{"version":"v1","resources":[{"resource":"x","scope":"Cluster","verbs":null,"subresources":[{"subresource":"y"}]}]}]}]}`, V2)
	f.Add(`{"groupVersion":"a.dev/v1","resources":[{"name":"x"},{"name":"x/y"},{"name":"/"},{"name":"z/"}]}`, "")
	f.Add(`null`, V2beta1)
	f.Add("{\"items\":[{\"metadata\":{\"name\":\"a.dev\"},\"versions\":[{\"version\":\"v1\",\"resources\":[{\"resource\":\"x\x7f\",\"scope\":\"Cluster\"}]}]}]}", V2)
	f.Fuzz(func(t *testing.T, raw, version string) {
		named := schema.GroupVersion{Group: "a.dev", Version: "v1"}
		var told apidiscoveryv2.APIVersionDiscovery
		if version == "" {
			one, err := readUnaggregated(named, []byte(raw))
			if err != nil {
				return
			}
			told = one
		} else {
			all, err := readAggregated(version, []byte(raw))
			if err != nil {
				return
			}
			told = all.versions[named]
		}
		seen := map[string]bool{}
		for _, resource := range told.Resources {
			if resource.Resource == "" || seen[resource.Resource] || resource.ResponseKind == nil || resource.Verbs == nil {
				t.Fatalf("adopted %+v", resource)
			}
			seen[resource.Resource] = true
		}
		document, err := NewDocument(Merge([]Entry{{Source: Remote, Group: "a.dev", Version: told}}))
		if err != nil {
			t.Fatal(err)
		}
		for _, mediaType := range mediaTypes {
			for _, version := range versions {
				if _, err := document.Bytes(Form{Version: version, MediaType: mediaType}, false); err != nil {
					t.Fatal(fmt.Errorf("%s in %s: %w", version, mediaType, err))
				}
			}
		}
	})
}

// Operators find an aggregated server that is unavailable by the line that is missing (KEP-3352,
// Troubleshooting).
func TestEachDownloadIsLoggedInTheWordsOfTheKEP(t *testing.T) {
	backend := Backend{Namespace: "default", Name: "tides", Port: 443}
	here := schema.GroupVersion{Group: "tides.dev", Version: "v1"}
	for want, a := range map[string]answer{
		"DiscoveryManager: successfully downloaded discovery for v1.tides.dev":        {},
		"DiscoveryManager: successfully downloaded legacy discovery for v1.tides.dev": {asked: []schema.GroupVersion{here}},
		"": {asked: []schema.GroupVersion{}},
	} {
		r := &Remotes{services: map[schema.GroupVersion]Service{here: {GroupVersion: here, Backend: backend}}}
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(downloadVerbosity), ktesting.BufferLogs(true)))
		r.downloaded(logger, backend, a)
		logged, ok := logger.GetSink().(ktesting.Underlier)
		if !ok {
			t.Fatal("the logger keeps nothing")
		}
		var got []string
		for _, entry := range logged.GetBuffer().Data() {
			got = append(got, entry.Message)
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("logged %q, want %q", got, want)
		}
	}
}
