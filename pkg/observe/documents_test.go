package observe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// shipping is an aggregated document with everything that can be in one.
var shipping = &apidiscoveryv2.APIGroupDiscoveryList{
	TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"},
	Items: []apidiscoveryv2.APIGroupDiscovery{{
		ObjectMeta: metav1.ObjectMeta{Name: "sea.io"},
		Versions: []apidiscoveryv2.APIVersionDiscovery{{
			Version: "v1", Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
			Resources: []apidiscoveryv2.APIResourceDiscovery{
				{
					Resource: "ships", SingularResource: "ship", Scope: apidiscoveryv2.ScopeNamespace, ResponseKind: &metav1.GroupVersionKind{Kind: "Ship"},
					Verbs: metav1.Verbs{"list", "get"}, ShortNames: []string{"sh"}, Categories: []string{"all"},
					Subresources: []apidiscoveryv2.APISubresourceDiscovery{
						{Subresource: "status", ResponseKind: &metav1.GroupVersionKind{Group: "sea.io", Version: "v1", Kind: "Ship"}, Verbs: metav1.Verbs{"get"}},
						{Subresource: "scale", ResponseKind: &metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}, Verbs: metav1.Verbs{"get"}},
					},
				},
				{Resource: "horns", Scope: apidiscoveryv2.ScopeCluster, Subresources: []apidiscoveryv2.APISubresourceDiscovery{
					{Subresource: "blow", ResponseKind: &metav1.GroupVersionKind{Kind: "Blow"}, Verbs: metav1.Verbs{"create"}},
				}},
			},
		}},
	}},
}

// ashore is the same in the words of the document that is not aggregated.
const ashore = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"sea.io/v1","resources":[
	{"name":"ships/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale","verbs":["get"]},
	{"name":"ships","singularName":"ship","namespaced":true,"kind":"Ship","verbs":["get","list"],"shortNames":["sh"],"categories":["all"],"storageVersionHash":"x"},
	{"name":"ships/status","singularName":"","namespaced":true,"kind":"Ship","verbs":["get"]},
	{"name":"horns/blow","singularName":"","namespaced":false,"kind":"Blow","verbs":["create"]}]}`

func bodies(t *testing.T) map[string][]byte {
	t.Helper()
	asJSON, err := json.Marshal(shipping)
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.JSONToYAML(asJSON)
	if err != nil {
		t.Fatal(err)
	}
	proto, err := runtime.Encode(protobufDiscovery, shipping)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		aggregated(runtime.ContentTypeJSON, "v2"): asJSON, aggregated(runtime.ContentTypeYAML, "v2"): asYAML, aggregated(runtime.ContentTypeProtobuf, "v2"): proto,
	}
}

func TestAllEncodingsTellTheSame(t *testing.T) {
	var first *history.Listing
	for contentType, body := range bodies(t) {
		listing, status, err := readListing(contentType, body)
		if err != nil || status != "" || listing == nil {
			t.Fatalf("%s: %v %q", contentType, err, status)
		}
		if first == nil {
			first = listing
		}
		if !reflect.DeepEqual(first, listing) {
			t.Errorf("%s tells %+v, another encoding %+v", contentType, listing, first)
		}
	}
	plain, _, err := readListing("application/json", []byte(ashore))
	if err != nil {
		t.Fatal(err)
	}
	here, there := first.Groups[0].Versions[0], plain.Groups[0].Versions[0]
	if here.Inventory != there.Inventory {
		t.Errorf("the aggregated document has %+v, the other one %+v", here.Resources, there.Resources)
	}
	if here.Order != there.Order {
		t.Error("the order of the resources is another one, though both begin with ships")
	}
}

func TestWhatAListingShows(t *testing.T) {
	for _, tc := range []struct {
		name, contentType, body string
		want                    string
	}{
		{"metadata", "application/json", `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","creationTimestamp":null,"uid":"u"},"versions":[]}]}`,
			`{"apiVersion":"apidiscovery.k8s.io/v2","kind":"APIGroupDiscoveryList","metadata":["resourceVersion"],"groups":[{"name":"a","metadata":["uid"]}]}`},
		{"groups", "application/json", `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"a","versions":[{"version":"v1"},{"version":"v2"}],"preferredVersion":{"version":"v2"}}]}`,
			`{"apiVersion":"v1","kind":"APIGroupList","groups":[{"name":"a","preferred":"v2","versions":[{"version":"v1"},{"version":"v2"}]}]}`},
		{"core", "application/json", `{"kind":"APIVersions","versions":["v1"]}`, `{"kind":"APIVersions","groups":[{"versions":[{"version":"v1"}]}]}`},
		{"a status", "application/json", `{"kind":"Status","reason":"NotAcceptable"}`, "NotAcceptable"},
		{"a status without a reason", "application/json", `{"kind":"Status"}`, "Unknown"},
		{"something else", "application/json", `{"kind":"Pod"}`, "no discovery document"},
		{"garbage", "application/json", `{"kind":`, "read the JSON"},
		{"garbage in protobuf", "application/vnd.kubernetes.protobuf", `{}`, "read the protobuf"},
		{"another encoding", "text/html", `<p>`, "is not known"},
		{"no encoding", "", `{}`, "content type cannot be read"},
	} {
		listing, status, err := readListing(tc.contentType, []byte(tc.body))
		got := status
		if err != nil {
			got = err.Error()
		} else if listing != nil {
			raw, _ := json.Marshal(listing)
			got = string(raw)
		}
		if err == nil && got != tc.want || err != nil && !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestTheCounterIsFoundUnderBothNames(t *testing.T) {
	for text, want := range map[string]int64{
		"# HELP x\naggregator_discovery_aggregation_count 7\n":                               7,
		"aggregator_discovery_aggregation_count_total 1.2e+01\nother 3\n":                    12,
		"aggregator_discovery_aggregation_duration_count 9\naggregator_discovery_other 1 \n": -1,
	} {
		got := countOf([]byte(text), counters)
		if (got == nil) != (want < 0) || got != nil && *got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// sea answers discovery in JSON only.
func sea(t *testing.T) http.Handler {
	body := bodies(t)[askJSON]
	answer := func(w http.ResponseWriter, contentType string, body []byte) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/metrics":
			answer(w, "text/plain", []byte("aggregator_discovery_aggregation_count 3\n"))
		case r.URL.Path == "/apis/sea.io/v1":
			answer(w, "application/json", []byte(ashore))
		case r.Header.Get("If-None-Match") == `"t"`:
			w.WriteHeader(http.StatusNotModified)
		case strings.HasPrefix(r.Header.Get("Accept"), askJSON):
			w.Header().Set("ETag", `"t"`)
			answer(w, askJSON, body)
		case r.URL.Path == "/api":
			answer(w, "application/json", []byte(`{"kind":"APIVersions","versions":[]}`))
		default:
			answer(w, "application/json", []byte(`{"kind":"APIGroupList","groups":[{"name":"sea.io","versions":[{"version":"v1"}]}]}`))
		}
	})
}

func TestASweepAsksForEverythingBetweenTwoEqualAnswers(t *testing.T) {
	recorded := newMemory()
	config := serve(t, sea(t))
	d := NewDocuments("cp1", config, recorded, NewLibrary(), clock.RealClock{})
	client := dial(t, config, recorded)
	d.Sweep(t.Context(), client)
	d.Sweep(t.Context(), client)

	events := recorded.of(history.KindDiscoveryDocument)
	var seen []string
	told := map[string]bool{}
	for i, ev := range events {
		doc := ev.DiscoveryDocument
		if doc.Sweep == 1 {
			seen = append(seen, fmt.Sprintf("%s %s %s %d", doc.Path, doc.Accept, doc.IfNoneMatch, doc.Code))
		}
		if last := i == len(events)/2-1 || i == len(events)-1; doc.Last != last {
			t.Errorf("event %d of %d is the last: %v", i, len(events), doc.Last)
		}
		if doc.Listing != nil {
			if told[doc.Content] || doc.Sweep != 1 {
				t.Errorf("%s is told twice", doc.Content)
			}
			told[doc.Content] = true
		} else if doc.Content != "" && !told[doc.Content] {
			t.Errorf("%s is never told", doc.Content)
		}
	}
	for _, want := range []string{"/api " + askJSON + "  200", "/apis " + askJSON + ` "t" 304`, "/apis " + askJSON + ` "0" 200`, "/apis   200", "/apis/sea.io/v1 application/json  200", "/metrics   200"} {
		if !slices.Contains(seen, want) {
			t.Errorf("no request %q was sent", want)
		}
	}
	if n := len(seen); !strings.HasPrefix(seen[1], "/api "+askJSON) || !strings.HasPrefix(seen[n-2], "/apis "+askJSON) || !strings.HasPrefix(seen[n-1], "/metrics") {
		t.Errorf("it begins with %q and ends with %q", seen[:2], seen[n-2:])
	}
}

func TestDocumentsAreLookedAtWhenAServerIsReady(t *testing.T) {
	recorded := newMemory()
	d := NewDocuments("cp1", serve(t, sea(t)), recorded, NewLibrary(), clock.RealClock{})
	change := func(what string) cluster.Change {
		return cluster.Change{Member: "cp1", Component: cluster.APIServer, What: what}
	}
	d.ProcessChanged(cluster.Change{Member: "cp2", Component: cluster.APIServer, What: history.ProcessStarted})
	d.ProcessChanged(change(history.ProcessStarted))
	go d.Run(t.Context())
	recorded.until(t, func(e history.Event) bool { return e.DiscoveryDocument != nil && e.DiscoveryDocument.Sweep == 0 })
	d.Ready(1)
	recorded.until(t, func(e history.Event) bool { return e.DiscoveryDocument != nil && e.DiscoveryDocument.Last })
	d.ProcessChanged(change(history.ProcessExited))
	d.Ready(1) // too late: it is gone
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running || d.fresh || d.ready {
		t.Errorf("running %v, ready %v, fresh %v after the end", d.running, d.ready, d.fresh)
	}
}

// A thorough look that hangs keeps no change from being seen.
func TestQuickLooksGoOnBesideAThoroughOne(t *testing.T) {
	sea, asked, hangs, release := sea(t), make(chan struct{}), make(chan struct{}), make(chan struct{})
	config := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case history.MetricsPath: // with it a thorough look begins
			select {
			case hangs <- struct{}{}:
			case <-release:
			}
			<-release
		case groupsPath:
			select {
			case asked <- struct{}{}:
			default:
			}
		}
		sea.ServeHTTP(w, r)
	}))
	defer close(release)
	d := NewDocuments("cp1", config, newMemory(), NewLibrary(), clock.RealClock{})
	d.ProcessChanged(cluster.Change{Member: "cp1", Component: cluster.APIServer, What: history.ProcessStarted})
	d.Ready(1)
	go d.Run(t.Context())
	within := time.After(20 * time.Second)
	for i, next := range []chan struct{}{hangs, asked, asked, asked} {
		select {
		case <-next:
		case <-within:
			t.Fatalf("it never came to %d", i)
		}
	}
}
