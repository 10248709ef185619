package discovery

import (
	"errors"
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

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/utils/clock"
)

// member is a server in front of its resources, as its peers and clients meet it.
type member struct {
	catalog *Catalog
	peers   *Peers
	view    *Neighborhood
	handler http.Handler
}

// plane is a control plane whose members reach each other through it, by address.
type plane struct {
	mu      sync.Mutex
	members map[string]*member
}

func newPlane() *plane { return &plane{members: map[string]*member{}} }

func (p *plane) member(name string) *member {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.members[name]
}

// put makes a member reachable under a name; nil makes the name unreachable.
func (p *plane) put(name string, m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members[name] = m
}

func (p *plane) RoundTrip(r *http.Request) (*http.Response, error) {
	other := p.member(r.URL.Host)
	if other == nil {
		return nil, errors.New("connection refused")
	}
	recorder := httptest.NewRecorder()
	// What the filters of a server would do.
	names := &user.DefaultInfo{Name: r.Header.Get("X-Remote-User")}
	other.serve(recorder, r.WithContext(request.WithUser(r.Context(), names)))
	return recorder.Result(), nil
}

func (m *member) serve(w http.ResponseWriter, r *http.Request) {
	resolver := request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := resolver.NewRequestInfo(r)
	if err != nil {
		panic(err)
	}
	m.handler.ServeHTTP(w, r.WithContext(request.WithRequestInfo(r.Context(), info)))
}

// join adds a member that hosts the entries and answers requests for resources
// with its name and that of the user.
func (p *plane) join(t *testing.T, name string, entries []Entry) *member {
	t.Helper()
	catalog := running(t)
	for _, entry := range entries {
		catalog.Set(entry)
	}
	// As of a server that serves: it has published what is built in before.
	settled(t, catalog)
	m := &member{catalog: catalog, peers: NewPeers(p, clock.RealClock{}, rand.New(rand.NewPCG(1, 2)))}
	m.view = NewNeighborhood(catalog, m.peers, name, testRank)
	resources := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, _ := request.RequestInfoFrom(r.Context())
		asker, _ := request.UserFrom(r.Context())
		hosted, _ := askedFor(info)
		for _, entry := range catalog.Entries() {
			if entry.GroupVersion() == hosted.GroupVersion {
				_, _ = io.WriteString(w, name+" for "+asker.GetName())
				return
			}
		}
		http.NotFound(w, r)
	})
	m.handler = NewRouter(m.view, p, NewHandler(Local(catalog), m.view, []string{V2}, resources))
	go m.peers.Run(t.Context())
	go m.view.Run(t.Context())
	p.put(name, m)
	return m
}

// ask makes a request as alice.
func (m *member) ask(t *testing.T, path, accept string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept", accept)
	r = r.WithContext(request.WithUser(r.Context(), &user.DefaultInfo{Name: "alice", Groups: []string{"users"}}))
	recorder := httptest.NewRecorder()
	m.serve(recorder, r)
	return recorder.Code, strings.TrimSpace(recorder.Body.String())
}

func (m *member) listed(scope Scope) []string { return names(m.view.Document(scope).Groups()) }

func peersNamed(ids ...string) []Peer {
	var peers []Peer
	for _, id := range ids {
		peers = append(peers, Peer{ID: id, Holder: id + "_1", Address: id})
	}
	return peers
}

// AD-23 and AD-24.
func TestNeighborhood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlane()
		older := p.join(t, "s1", builtins(map[string][]string{"a": {"v1beta1", "v1alpha1"}}, "apples"))
		newer := p.join(t, "s2", builtins(map[string][]string{"a": {"v1", "v1beta1"}}, "apples"))
		crd := hosted(Custom, "custom", "v1", Priority{1000, 100}, "customs")
		older.catalog.Set(crd)
		newer.catalog.Set(crd)
		older.peers.Set(peersNamed("s2"))
		newer.peers.Set(peersNamed("s1"))
		time.Sleep(time.Second)
		synctest.Wait()

		union := []string{"a/v1:apples", "a/v1beta1:apples", "a/v1alpha1:apples", "custom/v1:customs"}
		for name, m := range map[string]*member{"s1": older, "s2": newer} {
			if got := m.listed(Everything); !slices.Equal(got, union) {
				t.Errorf("%s lists %v, want %v", name, got, union)
			}
		}
		if older.view.Document(Everything).Tag() != newer.view.Document(Everything).Tag() {
			t.Error("the union has two tags")
		}
		local := []string{"a/v1:apples", "a/v1beta1:apples", "custom/v1:customs"}
		if got := newer.listed(WithoutPeers); !slices.Equal(got, local) {
			t.Errorf("the local view is %v, want %v", got, local)
		}
		if got := newer.listed(BuiltinOnly); !slices.Equal(got, local[:2]) {
			t.Errorf("built in is %v, want %v", got, local[:2])
		}
		if _, got := newer.ask(t, "/apis", testJSON); strings.Contains(got, "v1alpha1") {
			t.Error("the list that is not aggregated tells of peers")
		}

		for path, want := range map[string]string{
			"/apis/a/v1alpha1/apples":                 "s1 for alice",
			"/apis/a/v1alpha1/namespaces/n/apples/x":  "s1 for alice",
			"/apis/a/v1alpha1":                        "s1 for alice",
			"/apis/a/v1beta1/apples":                  "s2 for alice",
			"/apis/custom/v1/customs":                 "s2 for alice",
			"/apis/custom/v1":                         "s2 for alice",
			"/apis/a/v1alpha1/namespaces/n/unknown/x": "404 page not found",
		} {
			if _, got := newer.ask(t, path, testJSON); got != want {
				t.Errorf("%s: got %q, want %q", path, got, want)
			}
		}

		// A CRD that is gone is gone from the union, whatever peers remember.
		newer.catalog.Remove(Custom, crd.GroupVersion())
		time.Sleep(time.Second)
		synctest.Wait()
		if got := newer.listed(Everything); !slices.Equal(got, union[:3]) {
			t.Errorf("without the CRD: %v", got)
		}

		// A peer that is out of reach keeps what it had; requests are told to wait.
		p.put("s1", nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if code, _ := newer.ask(t, "/apis/a/v1alpha1/apples", testJSON); code != http.StatusServiceUnavailable {
			t.Errorf("out of reach: status %d", code)
		}
		// It comes back as another release, and only then is something else known.
		again := p.join(t, "s1", builtins(map[string][]string{"a": {"v1"}}, "apples"))
		newer.peers.Set([]Peer{{ID: "s1", Holder: "s1_2", Address: "s1"}})
		again.peers.Set(peersNamed("s2"))
		time.Sleep(time.Second)
		synctest.Wait()
		if got := newer.listed(Everything); !slices.Equal(got, []string{"a/v1:apples", "a/v1beta1:apples"}) {
			t.Errorf("after its restart: %v", got)
		}
		if got := again.listed(Everything); !slices.Equal(got, []string{"a/v1:apples", "a/v1beta1:apples"}) {
			t.Errorf("the one that restarted: %v", got)
		}

		again.peers.Set(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := again.listed(Everything); !slices.Equal(got, []string{"a/v1:apples"}) {
			t.Errorf("after its peer left: %v", got)
		}
		if code, _ := again.ask(t, "/apis/a/v1beta1/apples", testJSON); code != http.StatusNotFound {
			t.Errorf("after its peer left: status %d", code)
		}
	})
}

// Two members that each take the other for the host do not play ball.
func TestHandedOnOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlane()
		liar := p.join(t, "s1", builtins(map[string][]string{"a": {"v1"}}, "apples"))
		m := p.join(t, "s2", nil)
		m.peers.Set(peersNamed("s1"))
		time.Sleep(time.Second)
		synctest.Wait()
		liar.catalog.Replace(Builtin, nil)
		liar.peers.Set(peersNamed("s2"))
		m.catalog.Set(hosted(Custom, "other", "v1", Priority{}))
		if code, _ := m.ask(t, "/apis/a/v1/apples", testJSON); code != http.StatusNotFound {
			t.Errorf("status %d", code)
		}
	})
}

// Of several hosts, one that could be reached of late is chosen.
func TestReachablePeersFirst(t *testing.T) {
	peers := NewPeers(nil, clock.RealClock{}, nil)
	peers.Set(peersNamed("s1", "s2", "s3"))
	if id, _, ok := peers.oneOf([]string{"s2", "s3"}); id != "s2" || !ok {
		t.Errorf("got %s, %v", id, ok)
	}
	peers.heard(peersNamed("s2")[0], false)
	if id, address, ok := peers.oneOf([]string{"s2", "s3"}); id != "s3" || address != "s3" || !ok {
		t.Errorf("got %s, %v", id, ok)
	}
	peers.heard(peersNamed("s3")[0], false)
	if id, _, ok := peers.oneOf([]string{"s2", "s3"}); id != "s2" || !ok {
		t.Errorf("got %s, %v", id, ok)
	}
	if _, _, ok := peers.oneOf([]string{"s9"}); ok {
		t.Error("found one that is not there")
	}
}
