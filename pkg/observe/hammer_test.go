package observe

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// hammering runs a hammer until it is stopped.
func hammering(t *testing.T, h *Hammer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

func TestHammerSeesTheBarrierOpen(t *testing.T) {
	var registered atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/namespaces/n/configmaps", func(w http.ResponseWriter, r *http.Request) {
		if registered.Load() {
			reply(201, `{"kind":"ConfigMap","metadata":{"resourceVersion":"12"}}`)(w, r)
			return
		}
		reply(503, `{"kind":"Status","reason":"ServiceUnavailable","message":"wait for storage version registration to complete for resource: configmaps"}`)(w, r)
	})
	m := newMemory()
	begun := make(chan struct{}, 4)
	probe := Probe{
		Interval: time.Millisecond,
		Begin:    func() { begun <- struct{}{} },
		Step: func(ctx context.Context, client *Client) {
			client.Do(ctx, Call{Class: history.ClassGuarded, Verb: "create", Version: "v1", Resource: "configmaps", Namespace: "n", Name: "x", Write: 3, Body: map[string]any{}})
		},
	}
	h := NewHammer("cp1", serve(t, mux), m, clock.RealClock{}, []Probe{probe})
	stop := hammering(t, h)
	h.ProcessChanged(started(1))
	held := m.until(t, func(e history.Event) bool { return e.Request.Barrier })
	if held.Request.Code != 503 || held.Request.Name != "n/x" || held.Request.Write != 3 {
		t.Errorf("held back %+v", held.Request)
	}
	registered.Store(true)
	passed := m.until(t, func(e history.Event) bool { return e.Request.Code == 201 })
	if passed.Request.Barrier || passed.Request.ResourceVersion != 12 {
		t.Errorf("passed %+v", passed.Request)
	}
	h.Ready(1)
	h.Ready(1)
	h.ProcessChanged(exited(1))
	h.ProcessChanged(started(2))
	<-begun
	<-begun
	stop()
}

func TestARunOfRefusedConnectionsIsRecordedOnce(t *testing.T) {
	m := newMemory()
	config := serve(t, http.NotFoundHandler())
	c, _ := config()
	c.Host = "http://127.0.0.1:1"
	client, err := NewClient("cp1", c, m)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for _, class := range []string{history.ClassRead, history.ClassGuarded} {
			if answer := client.Do(t.Context(), Call{Class: class, Verb: "get", Version: "v1", Resource: "pods"}); !answer.Refused || answer.OK() {
				t.Fatalf("answer %+v", answer)
			}
		}
	}
	if requests := m.of(history.KindRequest); len(requests) != 2 || requests[0].Request.Error == "" {
		t.Errorf("recorded %v", requests)
	}
}

func TestAHammerThatCameTooLateLeavesAGap(t *testing.T) {
	m := newMemory()
	h := NewHammer("cp1", serve(t, http.NotFoundHandler()), m, clock.RealClock{}, nil)
	h.ProcessChanged(started(1))
	h.Ready(1)
	stop := hammering(t, h)
	gap := m.until(t, func(e history.Event) bool { return e.RecorderMissed != nil })
	if gap.Member != "cp1" || gap.RecorderMissed.Source != "request" {
		t.Errorf("gap %+v", gap)
	}
	stop()

	// No goroutine receives the starts any more.
	for instance := range 2 * cap(h.starts) {
		h.ProcessChanged(started(instance))
	}
	if gaps := m.of(history.KindRecorderMissed); len(gaps) != 1+cap(h.starts) {
		t.Errorf("%d gaps", len(gaps))
	}
}

// The hammer does not see the end of a boot that takes longer than its bound.
func TestHammer_RecordsAGapWhenItGivesUp(t *testing.T) {
	m, clk := newMemory(), clocktesting.NewFakeClock(time.Now())
	h := NewHammer("cp1", serve(t, http.NotFoundHandler()), m, clk, nil)
	stop := hammering(t, h)
	h.ProcessChanged(started(1))
	for !clk.HasWaiters() {
		time.Sleep(time.Millisecond)
	}
	clk.Step(HammerLongest)
	m.until(t, func(e history.Event) bool { return e.RecorderMissed != nil })
	stop()
	if gaps := m.of(history.KindRecorderMissed); len(gaps) != 1 || gaps[0].Member != "cp1" || gaps[0].RecorderMissed.Source != "request" {
		t.Errorf("gaps %+v", gaps)
	}
}

// While the server does not listen, the hammer only checks whether it does.
func TestHammer_SendsNothingBeforeTheServerListens(t *testing.T) {
	var listens atomic.Bool
	var early atomic.Int64
	knocked := make(chan struct{}, 64)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, r *http.Request) {
		select {
		case knocked <- struct{}{}:
		default:
		}
		if !listens.Load() {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		reply(200, `{}`)(w, r)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !listens.Load() {
			early.Add(1)
		}
		reply(200, `{}`)(w, r)
	})
	m := newMemory()
	h := NewHammer("cp1", serve(t, mux), m, clock.RealClock{}, []Probe{{Interval: time.Millisecond, Step: func(ctx context.Context, client *Client) {
		client.Do(ctx, Call{Class: history.ClassRead, Verb: "list", Version: "v1", Resource: "pods"})
	}}})
	stop := hammering(t, h)
	h.ProcessChanged(started(1))
	for range 3 {
		<-knocked
	}
	listens.Store(true)
	m.until(t, func(e history.Event) bool { return e.Request != nil && e.Request.Code == 200 })
	if n := early.Load(); n > 0 {
		t.Errorf("%d requests were sent before the server listened", n)
	}
	stop()
}
