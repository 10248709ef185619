package observe

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func versionsListed(words ...string) *history.Listing {
	l := &history.Listing{}
	for _, word := range words {
		name, resources, _ := strings.Cut(word, ":")
		group, version, _ := strings.Cut(name, "/")
		v := history.ListedVersion{Version: version}
		for _, resource := range strings.Fields(resources) {
			name, verb, _ := strings.Cut(resource, "=")
			v.Resources = append(v.Resources, history.ListedResource{Name: name, Verbs: []string{verb}})
		}
		l.Groups = append(l.Groups, history.ListedGroup{Name: group, Versions: []history.ListedVersion{v}})
	}
	return l
}

func TestOnlyPeers(t *testing.T) {
	union := versionsListed("a/v1:apples=list", "a/v2:votes=create apples=list pears=list", "b/v1:reviews=create", "c/v1:")
	for _, tc := range []struct {
		local *history.Listing
		want  []string
	}{
		{versionsListed("a/v1:apples=list"), []string{"/apis/a/v2/apples"}},
		{versionsListed("a/v1:apples=list", "a/v2:apples=list"), []string{"/apis/a/v2/pears"}},
		{union, nil},
		{nil, nil},
	} {
		if got := onlyPeers(union, tc.local); !slices.Equal(got, tc.want) {
			t.Errorf("got %v, want %v", got, tc.want)
		}
	}
	if got := onlyPeers(nil, union); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

func TestUnlisted(t *testing.T) {
	local := versionsListed("a/v1:", "a/v2:")
	if got := unlisted(local, []groupVersion{{"a", "v1"}, {"", "v1"}}); !slices.Equal(got, []groupVersion{{"a", "v2"}}) {
		t.Errorf("got %v", got)
	}
	if got := unlisted(nil, nil); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

// A member that tells of a peer is asked for what only that hosts, once more if it
// fails, and what its plain list leaves out it is asked for itself.
func TestASweepAsksForWhatPeersHost(t *testing.T) {
	const (
		deep = `{"resource":"whales","scope":"Namespaced","responseKind":{"kind":"Whale"},"verbs":["list"]}`
		at   = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":"sea.io"},"versions":[`
	)
	failed := false
	recorded := newMemory()
	var itself, query []string
	config := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := func(code int, contentType, body string) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
		switch accept := r.Header.Get("Accept"); {
		case r.URL.Path == "/apis/sea.io/v2/whales" && !failed:
			failed = true
			answer(503, "application/json", `{"kind":"Status","reason":"ServiceUnavailable"}`)
		case r.URL.Path == "/apis/sea.io/v2/whales":
			query = append(query, r.URL.RawQuery)
			answer(200, "application/json", `{"kind":"WhaleList","items":[]}`)
		case r.Header.Get("X-Kubernetes-Peer-Proxied") == "true":
			itself = append(itself, r.URL.Path)
			answer(200, "application/json", `{"kind":"APIResourceList","groupVersion":"sea.io/v1","resources":[]}`)
		case accept == askLocal:
			answer(200, askJSON, at+`{"version":"v1","resources":[]}]}]}`)
		case accept == askJSON && r.URL.Path == "/apis":
			answer(200, askJSON, at+`{"version":"v1","resources":[]},{"version":"v2","resources":[`+deep+`]}]}]}`)
		case r.URL.Path == "/api":
			answer(200, "application/json", `{"kind":"APIVersions","versions":[]}`)
		default:
			answer(200, "application/json", `{"kind":"APIGroupList","groups":[]}`)
		}
	}))
	d := NewDocuments("cp1", config, recorded, NewLibrary(), clock.RealClock{})
	d.Sweep(t.Context(), dial(t, config, recorded))
	var codes []int
	for _, ev := range recorded.of(history.KindDiscoveryDocument) {
		if doc := ev.DiscoveryDocument; doc.Path == "/apis/sea.io/v2/whales" {
			codes = append(codes, doc.Code)
			if doc.Sweep != 1 || doc.Content != "" || doc.Code == 503 && doc.Status != "ServiceUnavailable" {
				t.Errorf("recorded %+v", doc)
			}
		} else if doc.LocalOnly != (doc.Path == "/apis/sea.io/v1") {
			t.Errorf("recorded %+v", doc)
		}
	}
	if !slices.Equal(codes, []int{503, 200}) || !slices.Equal(query, []string{"limit=1"}) || !slices.Equal(itself, []string{"/apis/sea.io/v1"}) {
		t.Errorf("codes %v with %v, asked itself %v", codes, query, itself)
	}
}
