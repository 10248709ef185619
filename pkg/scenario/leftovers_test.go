package scenario

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

type slowServer struct {
	takes time.Duration

	mu      sync.Mutex
	deleted []string
}

func (s *slowServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	timer := time.NewTimer(s.takes)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodGet {
		w.WriteHeader(http.StatusNotFound) // all of it is gone at once
		return
	}
	s.deleted = append(s.deleted, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
}

func standingCluster(t *testing.T, s *slowServer) *Runner {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	r, _, _ := onShelf(t)
	r.cluster = foreignCluster{shelved: shelved{newFake(), server.URL}}
	r.foreign = r.cluster.(cluster.ExternallyManaged)
	return r
}

// Sixty definitions once stayed in a cluster that took a fifth of a second for each.
func TestCleanUp_TakesAsLongAsThereIsToDelete(t *testing.T) {
	s := &slowServer{takes: 200 * time.Millisecond}
	r := standingCluster(t, s)
	r.made.note(observe.Call{Version: "v1", Resource: "namespaces", Name: "run-1"})
	r.made.note(observe.Call{Version: "v1", Resource: "services", Namespace: "run-1", Name: "tides"})
	r.made.note(observe.Call{Group: serviceGroup, Version: "v1", Resource: serviceResource, Name: "v1.tides"})
	for i := range 60 {
		r.made.note(observe.Call{Group: crdGroup, Version: "v1", Resource: crdResource, Name: fmt.Sprint("crd-", i)})
	}
	began := time.Now()
	if err := r.cleanUp(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 60*s.takes*2/CleanUpWriters+5*time.Second {
		t.Errorf("it took %s, as if one were deleted after the other", took)
	}
	if told := r.History.(*fakeHistory).told(); len(told) > 0 {
		t.Errorf("after the recorders have ended the history is told %q", told)
	}
	for _, ev := range r.History.(*fakeHistory).events {
		if ev.Request != nil && ev.Request.Verb == "delete" {
			t.Error("after the recorders have ended the history is told of a request")
		}
	}
	if len(s.deleted) != 63 {
		t.Errorf("%d of 63 objects were deleted", len(s.deleted))
	}
	// What is in a namespace, and what names it, goes before it.
	if last := s.deleted[len(s.deleted)-3:]; !slices.Equal(last, []string{"v1.tides", "tides", "run-1"}) {
		t.Errorf("the last that were deleted are %v", last)
	}
}

func TestCleanUpBound_GrowsWithTheObjects(t *testing.T) {
	if one, sixty := cleanUpBound(1), cleanUpBound(60); one < CleanUpTimeout || sixty < CleanUpTimeout+20*time.Second {
		t.Errorf("%s for one object, %s for sixty", one, sixty)
	}
}

func TestRemoval_IsOneCommandAKindAndNamespace(t *testing.T) {
	got := removal([]observe.Call{
		{Group: crdGroup, Resource: crdResource, Name: "a"}, {Resource: "services", Namespace: "run-1", Name: "s"}, {Group: crdGroup, Resource: crdResource, Name: "b"},
	})
	want := "kubectl delete --ignore-not-found customresourcedefinitions.apiextensions.k8s.io a b && kubectl delete --ignore-not-found services -n run-1 s"
	if got != want {
		t.Errorf("the command is %q, want %q", got, want)
	}
}

// A namespace that a step makes late does not go before the APIService that was there when its
// content has to be found.
func TestLeftovers_NamespacesGoLast(t *testing.T) {
	l := &leftovers{}
	for _, one := range []observe.Call{
		{Resource: "namespaces", Name: "run"}, {Resource: "services", Namespace: "run", Name: "s"}, {Group: "apiregistration.k8s.io", Resource: "apiservices", Name: "a"},
		{Resource: "namespaces", Name: "late"}, {Resource: "configmaps", Namespace: "kube-system", Name: "c"},
	} {
		l.note(one)
	}
	var order []string
	for _, kind := range l.kinds() {
		for _, object := range kind {
			order = append(order, object.Name)
		}
	}
	if got := strings.Join(order, " "); got != "c a s late run" {
		t.Errorf("the order is %s", got)
	}
}
