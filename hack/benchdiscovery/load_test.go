package main

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// Without regard to time: every request that was due is put once, and an answer
// that is not the one asked for is an error.
func TestLoad(t *testing.T) {
	for _, a := range []answer{plainAnswer, unchanged} {
		t.Run(string(a), func(t *testing.T) { testLoad(t, a) })
	}
}

// testLoad has a server of its own: a request that is given up, as all are once one has
// failed, may come to its server later than anything that is put next.
func testLoad(t *testing.T, a answer) {
	var asked atomic.Int64
	var broken atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("ETag", `"a"`)
		if broken.Load() {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		if r.Header.Get("If-None-Match") == `"a"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte("document"))
	}))
	defer server.Close()
	clients := []*client{{http: server.Client(), url: server.URL}}
	q, err := newQuestion(t.Context(), clients[0], a)
	if err != nil {
		t.Fatal(err)
	}
	before := asked.Load()
	s, err := paced(t.Context(), clients, q, 1000, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if got := asked.Load() - before; got < 1 || got > 100 || s.p50 <= 0 || s.p99 < s.p50 {
		t.Errorf("%d requests were put: %+v", got, s)
	}
	if s, err = flatOut(t.Context(), clients, q, 10*time.Millisecond); err != nil || s.rate <= 0 || s.clients != 1 {
		t.Errorf("%+v (%v)", s, err)
	}
	broken.Store(true)
	if _, err := paced(t.Context(), clients, q, 1000, 10*time.Millisecond); err == nil {
		t.Error("a server that turns requests away was timed")
	}
	if _, err := flatOut(t.Context(), clients, q, 10*time.Millisecond); err == nil {
		t.Error("a server that turns requests away was timed")
	}
}
