package workload

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/observe"
)

// hosting answers as an API server that serves the resources.
type hosting struct {
	mu        sync.Mutex
	resources string
	code      int // if set, every answer has it
	asked     []string
}

func (h *hosting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, r.Method+" "+r.URL.Path)
	if h.code > 0 {
		w.WriteHeader(h.code)
	}
	if r.URL.Path == probeCoreResources {
		fmt.Fprintf(w, `{"kind":"APIResourceList","resources":[%s]}`, h.resources)
	}
}

func probeOf(t *testing.T, members map[string]*hosting, names ...string) *LeaderActivityProbe {
	t.Helper()
	servers := map[string]*httptest.Server{}
	for name, member := range members {
		servers[name] = httptest.NewServer(member)
		t.Cleanup(servers[name].Close)
	}
	return NewLeaderActivityProbe(names, func(member string) (*observe.Client, error) {
		return observe.NewClient(member, &rest.Config{Host: servers[member].URL}, &memory{})
	}, clock.RealClock{})
}

func TestLeaderActivityProbe(t *testing.T) {
	member := &hosting{resources: `{"name":"pods"},{"name":"serviceaccounts"},{"name":"configmaps"}`}
	e := probeOf(t, map[string]*hosting{"cp1": member}, "cp1")
	for range 2 {
		if wanted, err := e.probe(t.Context()); !wanted || err != nil {
			t.Fatalf("%t %v", wanted, err)
		}
	}
	const namespace = "/api/v1/namespaces/" + observe.LeaderActivityNamespace + "/"
	want := []string{
		"GET /api/v1", "POST /api/v1/namespaces", "POST " + namespace + "serviceaccounts",
		"DELETE " + namespace + "configmaps/kube-root-ca.crt", "POST " + namespace + "pods",
		"DELETE " + namespace + "configmaps/kube-root-ca.crt", "POST " + namespace + "pods", "DELETE " + namespace + "pods/nowhere-1",
	}
	if !slices.Equal(member.asked, want) {
		t.Errorf("asked %q", member.asked)
	}
}

func TestLeaderActivityProbe_GoesToAMemberThatServesIt(t *testing.T) {
	serves := &hosting{resources: `{"name":"pods"},{"name":"serviceaccounts"},{"name":"configmaps"}`}
	ill := &hosting{code: http.StatusServiceUnavailable}
	e := probeOf(t, map[string]*hosting{"cp1": ill, "cp2": serves}, "cp1", "cp2")
	if wanted, err := e.probe(t.Context()); !wanted || err == nil {
		t.Fatalf("%t %v", wanted, err)
	}
	e.at = 1
	if wanted, err := e.probe(t.Context()); !wanted || err != nil || len(serves.asked) != 5 {
		t.Errorf("%t %v %q", wanted, err, serves.asked)
	}
}

// The reference's leaders tell by themselves what they do, and it serves no Pods.
func TestLeaderActivityProbe_EndsWithoutPods(t *testing.T) {
	member := &hosting{resources: `{"name":"configmaps"},{"name":"serviceaccounts"}`}
	e := probeOf(t, map[string]*hosting{"cp1": member}, "cp1")
	e.Run(t.Context())
	if !slices.Equal(member.asked, []string{"GET /api/v1"}) {
		t.Errorf("asked %q", member.asked)
	}
}
