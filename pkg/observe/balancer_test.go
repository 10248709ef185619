package observe

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

func TestBalancerRecordsEveryAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	codes := []int{http.StatusOK, http.StatusServiceUnavailable}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked == len(codes) {
			cancel() // the answer to this one is not waited for
			<-r.Context().Done()
			return
		}
		w.WriteHeader(codes[asked])
		asked++
	}))
	defer server.Close()
	m := newMemory()
	NewBalancer(&rest.Config{Host: server.URL}, m, clock.RealClock{}).Run(ctx)
	if len(m.events) != len(codes) {
		t.Fatalf("%d events, want %d", len(m.events), len(codes))
	}
	for i, ev := range m.events {
		if ev.LoadBalancer == nil || ev.LoadBalancer.Code != codes[i] || ev.LoadBalancer.Answered() != (codes[i] == http.StatusOK) {
			t.Errorf("event %d: %+v", i, ev.LoadBalancer)
		}
	}
}

// A read without the client's credentials is refused, and says nothing of the load balancer.
func TestBalancer_ReadsAsTheClientOfItsConfiguration(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	token := ""
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		token = r.Header.Get("Authorization")
		cancel()
	}))
	defer server.Close()
	NewBalancer(&rest.Config{Host: server.URL, BearerToken: "secret"}, newMemory(), clock.RealClock{}).Run(ctx)
	if token != "Bearer secret" {
		t.Errorf("the client sends %q", token)
	}
}
