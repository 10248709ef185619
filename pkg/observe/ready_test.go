package observe

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func started(instance int) cluster.Change {
	return cluster.Change{Member: "cp1", Component: cluster.APIServer, What: history.ProcessStarted, Instance: instance}
}

func exited(instance int) cluster.Change {
	change := started(instance)
	change.What = history.ProcessExited
	return change
}

// plane is an API server that can be made ready or not.
func plane(ready *atomic.Bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, r *http.Request) {
		if ready.Load() {
			reply(http.StatusOK, "ok")(w, r)
			return
		}
		reply(http.StatusInternalServerError, "[+]ping ok\n[-]poststarthook/b failed: reason withheld\n[-]poststarthook/a failed: x\nreadyz check failed\n")(w, r)
	})
	mux.HandleFunc("/version", reply(200, `{"gitVersion":"v1.2.0"}`))
	mux.HandleFunc("/api", reply(200, `{"versions":["v1"]}`))
	mux.HandleFunc("/api/v1", reply(200, `{"resources":[{"name":"pods","kind":"Pod","storageVersionHash":"h"},{"name":"pods/status","kind":"Pod"},{"name":"bindings","kind":"Binding"}]}`))
	mux.HandleFunc("/apis", reply(200, `{"groups":[{"name":"g","versions":[{"version":"v2"},{"version":"v1"}]},{"name":"down","versions":[{"version":"v1"}]}]}`))
	mux.HandleFunc("/apis/g/v1", reply(200, `{"resources":[{"name":"things","kind":"Thing","storageVersionHash":"h"}]}`))
	mux.HandleFunc("/apis/g/v2", reply(200, `{"resources":[{"name":"things","kind":"Thing","storageVersionHash":"h"}]}`))
	mux.HandleFunc("/apis/g/v3", reply(200, `{"resources":[{"name":"things","kind":"Thing","storageVersionHash":"h"}]}`))
	mux.HandleFunc("/apis/g/v5", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Kubernetes-Peer-Proxied") == "true" {
			http.NotFound(w, r)
			return
		}
		reply(200, `{"resources":[{"name":"things","kind":"Thing","storageVersionHash":"h"}]}`)(w, r)
	})
	mux.HandleFunc("/apis/internal.apiserver.k8s.io/v1alpha1/storageversions", reply(200, `{"items":[`+
		// g/v3 is answered though it is not listed, g/v4 is not, a peer answers for g/v5, and
		// down/v2 is another server's.
		`{"status":{"storageVersions":[{"servedVersions":["g/v1","g/v3","g/v4","g/v5"]},{"servedVersions":["g/v3","v1","down/v2"]}]}}]}`))
	mux.HandleFunc("/apis/down/v2", reply(200, `{"resources":[{"name":"others","kind":"Other"}]}`))
	mux.HandleFunc("/apis/down/v1", reply(503, "no backend"))
	mux.HandleFunc("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", reply(200, `{"items":[{"spec":{"group":"g","names":{"plural":"things"}}}]}`))
	mux.HandleFunc("/apis/apiregistration.k8s.io/v1/apiservices", reply(200, `{"items":[{"spec":{"group":"down","version":"v1","service":{"name":"s"}}},{"spec":{"group":"down","version":"v2","service":{"name":"s"}}},{"spec":{"version":"v1"}}]}`))
	return mux
}

func TestProberRecordsReadinessAndWhatIsHosted(t *testing.T) {
	var ready atomic.Bool
	m := newMemory()
	told := make(chan int, 4)
	p := NewProber("cp1", serve(t, plane(&ready)), m, atRevision(77), clock.RealClock{}, func(instance int) { told <- instance })
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan struct{})
	go func() {
		defer close(running)
		p.Run(ctx)
	}()
	p.ProcessChanged(started(1))
	failing := m.until(t, func(e history.Event) bool { return e.Ready != nil && e.Ready.Code == 500 })
	if want := []string{"poststarthook/a", "poststarthook/b"}; !reflect.DeepEqual(failing.Ready.Failing, want) {
		t.Errorf("failing %v", failing.Ready.Failing)
	}
	ready.Store(true)
	if err := p.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	m.until(t, func(e history.Event) bool { return e.Ready != nil && e.Ready.Code == 200 && e.Ready.Revision == 77 })
	m.until(t, func(e history.Event) bool { return e.Version != nil && e.Version.GitVersion == "v1.2.0" })
	discovery := m.until(t, func(e history.Event) bool { return e.HostedResources != nil })
	want := []history.HostedResource{
		{Resource: "bindings", Kind: "Binding", Served: []string{"v1"}},
		{Resource: "pods", Kind: "Pod", Served: []string{"v1"}, Persisted: true, Hashes: []string{"h"}},
		{Group: "g", Resource: "things", Kind: "Thing", Served: []string{"g/v1", "g/v2"}, Unlisted: []string{"g/v3"}, Persisted: true, Hashes: []string{"h"}, Custom: true},
	}
	if !reflect.DeepEqual(discovery.HostedResources.Resources, want) || discovery.HostedResources.Revision != 77 {
		t.Errorf("discovery %+v", discovery.HostedResources)
	}
	if instance := <-told; instance != 1 {
		t.Errorf("instance %d was told to be ready", instance)
	}

	// The next instance must be seen to be ready anew, although every answer
	// before and after says so.
	p.ProcessChanged(exited(1))
	p.ProcessChanged(started(2))
	if instance := <-told; instance != 2 {
		t.Errorf("instance %d was told to be ready", instance)
	}
	cancel()
	<-running
	for expected, down := range map[bool]bool{false: false, true: true} {
		change := exited(2)
		change.Expected = expected
		p.ProcessChanged(started(2))
		if p.ProcessChanged(change); p.Down() != down {
			t.Errorf("an exit that was expected (%v) counts as down on purpose (%v)", expected, p.Down())
		}
	}
	if p.ProcessChanged(started(3)); p.Down() {
		t.Error("a started server is down")
	}
	if err := NewProber("cp2", nil, m, atRevision(77), clock.RealClock{}, nil).WaitReady(ctx); err == nil {
		t.Error("a wait outlived its context")
	}
}

func TestWaitReady_SaysWhatTheServerSaidLast(t *testing.T) {
	var ready atomic.Bool
	m := newMemory()
	p := NewProber("cp1", serve(t, plane(&ready)), m, atRevision(77), clock.RealClock{}, nil)
	run, stop := context.WithCancel(t.Context())
	running := make(chan struct{})
	go func() {
		defer close(running)
		p.Run(run)
	}()
	p.ProcessChanged(started(1))
	m.until(t, func(e history.Event) bool { return e.Ready != nil && e.Ready.Code == 500 })
	late, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("it took too long"))
	defer cancel()
	var unready *cluster.Unready
	if err := p.WaitReady(late); !errors.As(err, &unready) {
		t.Fatalf("error %v", err)
	}
	if unready.Member != "cp1" || unready.Component != cluster.APIServer || !strings.Contains(unready.What, "it took too long") {
		t.Errorf("told %+v", unready)
	}
	// What it has said may be known a moment after it is recorded.
	stop()
	<-running
	if err := p.WaitReady(late); !errors.As(err, &unready) || unready.Code != 500 || !slices.Equal(unready.Failing, []string{"poststarthook/a", "poststarthook/b"}) {
		t.Errorf("told %+v", unready)
	}
	p.ProcessChanged(exited(1))
	if err := p.WaitReady(late); !errors.As(err, &unready) || !strings.Contains(unready.What, "it has no process") {
		t.Errorf("told %+v", unready)
	}
	given, give := context.WithCancelCause(t.Context())
	give(errors.New("enough"))
	if err := p.WaitReady(given); errors.As(err, &unready) || !strings.Contains(err.Error(), "enough") {
		t.Errorf("a wait that was given up says %v", err)
	}
}

// While a server stops, what it says of itself is over soon.
func TestProberAsksOftenWhileAServerStops(t *testing.T) {
	clk := testclock.NewFakeClock(time.Unix(0, 0))
	p := NewProber("cp1", nil, newMemory(), atRevision(77), clk, nil)
	p.ProcessChanged(started(1))
	p.mu.Lock()
	p.was = true
	p.mu.Unlock()
	<-p.woken
	if got := p.interval(); got != ReadySlow {
		t.Errorf("once it was ready it is asked every %s", got)
	}
	stopping := started(1)
	stopping.What = history.ProcessStopping
	p.ProcessChanged(stopping)
	select {
	case <-p.woken:
	default:
		t.Error("the stop is not looked at at once")
	}
	if got := p.interval(); got != ReadyFast {
		t.Errorf("while it stops it is asked every %s", got)
	}
	p.ProcessChanged(started(2))
	if p.stopping {
		t.Error("the next process counts as stopping")
	}
}
