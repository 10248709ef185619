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
