package observe

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Probe is one thing that a Hammer does to a booting server over and over.
type Probe struct {
	// Interval is the pause between two steps.
	Interval time.Duration
	// Begin is told of each new instance before the first step; may be nil.
	Begin func()
	// Step sends one request. It is called by one goroutine at a time.
	Step func(ctx context.Context, client *Client)
	// End is told of the end of each session, after the last step; may be nil.
	End func()
}

// Hammer sends requests straight to one member's API server from the moment
// its process exists until a while after it was ready: that is how the
// registration barrier is seen. Each instance gets new connections, and each
// probe its own.
type Hammer struct {
	member   string
	config   func() (*rest.Config, error)
	recorder Recorder
	clock    clock.WithTicker
	probes   []Probe
	// source is how gaps name the hammer, and after how long it goes on after an instance
	// was ready first.
	source string
	after  time.Duration

	mu       sync.Mutex
	instance int
	// end ends the session in hand, and abandon also cuts off what it still has
	// under way.
	end, abandon context.CancelFunc
	ready        chan struct{}
	starts       chan int
}

// NewHammer makes a hammer that uses the probes at each boot.
func NewHammer(member string, config func() (*rest.Config, error), recorder Recorder, clk clock.WithTicker, probes []Probe) *Hammer {
	return &Hammer{member: member, config: config, recorder: recorder, clock: clk, probes: probes, starts: make(chan int, 16),
		source: history.SourceRequest, after: HammerAfterReady}
}

// NewCustomHammer makes a hammer that asks for custom resources only.
func NewCustomHammer(member string, config func() (*rest.Config, error), recorder Recorder, clk clock.WithTicker, custom *CustomResources) *Hammer {
	h := NewHammer(member, config, recorder, clk, []Probe{custom.Probe()})
	h.source, h.after = history.SourceCustomResource, CustomAfterReady
	return h
}

// ProcessChanged tells the hammer of a change of its member's processes.
func (h *Hammer) ProcessChanged(change cluster.Change) {
	if change.Member != h.member || change.Component != cluster.APIServer {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch change.What {
	case history.ProcessStarted:
		h.instance = change.Instance
		h.ready = make(chan struct{})
		// What was asked of the process before can have no answer any more, and
		// must not keep this one waiting.
		if h.abandon != nil {
			h.abandon()
			h.abandon = nil
		}
		h.end = nil
		select {
		case h.starts <- change.Instance:
		default:
			h.missed(change.Instance)
		}
	case history.ProcessExited:
		if h.end != nil {
			h.end()
			h.end = nil
		}
	}
}

// Ready tells the hammer that the instance was ready for the first time.
func (h *Hammer) Ready(instance int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if instance == h.instance && h.ready != nil {
		close(h.ready)
		h.ready = nil
	}
}

// Run hammers at each boot until the context ends.
func (h *Hammer) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case instance := <-h.starts:
			h.session(ctx, instance)
		}
	}
}

// missed records that the boot of an instance was not hammered.
func (h *Hammer) missed(instance int) {
	what := "written to"
	if h.source == history.SourceCustomResource {
		what = "asked for custom resources"
	}
	h.recorder.Record(history.Event{Kind: history.KindRecorderMissed, Member: h.member, RecorderMissed: &history.RecorderMissed{
		Source:  h.source,
		Message: fmt.Sprintf("process number %d of the API server was not %s while it booted, or not to the end of that", instance, what),
	}})
}

// session hammers one instance; it returns when that ended or has been ready
// for long enough.
func (h *Hammer) session(run context.Context, instance int) {
	run, abandon := context.WithCancel(run)
	defer abandon()
	ctx, cancel := context.WithCancel(run)
	defer cancel()
	h.mu.Lock()
	ready := h.ready
	if instance != h.instance || ready == nil {
		if instance == h.instance {
			h.missed(instance)
		}
		h.mu.Unlock()
		return // it is gone or ready already: there is nothing left to see
	}
	h.end, h.abandon = cancel, abandon
	h.mu.Unlock()

	var probing sync.WaitGroup
	probing.Go(func() {
		h.knock(ctx)
		for _, probe := range h.probes {
			probing.Go(func() { h.hammer(ctx, run, probe) })
		}
	})
	longest := h.clock.NewTimer(HammerLongest)
	defer longest.Stop()
	select {
	case <-ready:
		pause(ctx, h.clock, h.after)
	case <-longest.C():
		// The harness does not see whether the barrier holds for the rest of the boot.
		h.mu.Lock()
		if h.ready == ready {
			h.missed(instance)
		}
		h.mu.Unlock()
	case <-ctx.Done():
	}
	cancel()
	probing.Wait()
}

// knock returns when the server answers. A server needs seconds until it listens, and many
// refused requests would slow its start down. A server that already listens answers the
// requests that it has received as soon as it can.
func (h *Hammer) knock(ctx context.Context) {
	client := connectUntil(ctx, h.member, h.config, h.recorder, h.clock)
	if client == nil {
		return
	}
	defer client.Close()
	for ctx.Err() == nil {
		if client.Get(ctx, "/version").Code != 0 {
			return
		}
		pause(ctx, h.clock, HammerInterval)
	}
}

// hammer probes until the session's context ends. What is under way then is
// let come to its end, because a request cut off has no known outcome, unless
// run ends too.
func (h *Hammer) hammer(ctx, run context.Context, probe Probe) {
	client := connectUntil(ctx, h.member, h.config, h.recorder, h.clock)
	if client == nil {
		return
	}
	defer client.Close()
	if probe.Begin != nil {
		probe.Begin()
	}
	if probe.End != nil {
		defer probe.End()
	}
	for ctx.Err() == nil {
		began := h.clock.Now()
		probe.Step(run, client)
		// Who is slow to answer is given as long before the next one.
		pause(ctx, h.clock, max(probe.Interval, min(h.clock.Since(began), LongestRest)))
	}
}
