package workload

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// Traffic writes and reads the objects of workloads through one member's API
// server, whether that is up or not, until its context ends.
type Traffic struct {
	member   string
	config   func() (*rest.Config, error)
	recorder observe.Recorder
	clock    clock.WithTicker
	rand     *rand.Rand
	sources  []*Source
	// Allowance is how much is sent; nil is no bound. Set it before Run.
	Allowance *Allowance
}

// NewTraffic makes the traffic of one member. The random numbers are used by
// this traffic alone, to keep the members out of step.
func NewTraffic(workloads []*Workload, run, member string, config func() (*rest.Config, error), recorder observe.Recorder,
	tagger *Tagger, clk clock.WithTicker, rnd *rand.Rand) *Traffic {
	t := &Traffic{member: member, config: config, recorder: recorder, clock: clk, rand: rnd}
	for _, w := range workloads {
		t.sources = append(t.sources, NewSource(w, run, member, "t", tagger, clk))
	}
	return t
}

// ProcessChanged tells the traffic of a change of the cluster's processes.
func (t *Traffic) ProcessChanged(change cluster.Change) {
	if change.Member != t.member || change.Component != cluster.APIServer || change.What != history.ProcessStarted {
		return
	}
	for _, source := range t.sources {
		source.Reset()
	}
}

// Run sends the traffic until the context ends, and waits for the answers.
func (t *Traffic) Run(ctx context.Context) {
	// A request that is cut off has no known outcome; each is bounded anyway.
	whole := context.WithoutCancel(ctx)
	var streams sync.WaitGroup
	for _, source := range t.sources {
		spec := source.workload.Spec
		t.stream(ctx, &streams, spec.Rate, func(client *observe.Client) { source.Write(whole, client) })
		t.stream(ctx, &streams, spec.ReadRate, func(client *observe.Client) { source.Read(whole, client) })
	}
	streams.Wait()
}

// stream calls step at the rate, from a goroutine and over a connection of its
// own. A step that takes longer than its turn makes the ones due meanwhile fall
// out, so that a slow server gets no flood when it comes back, and after each the stream
// rests for as long as it took, up to a bound: on a machine that is too busy already it
// steps back.
func (t *Traffic) stream(ctx context.Context, streams *sync.WaitGroup, rate float64, step func(*observe.Client)) {
	if rate <= 0 {
		return
	}
	interval := Interval(rate)
	offset := time.Duration(t.rand.Int64N(int64(interval)))
	streams.Go(func() {
		client := t.connect(ctx)
		if client == nil {
			return
		}
		defer client.Close()
		if !wait(ctx, t.clock, offset) {
			return
		}
		ticker := t.clock.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C():
				if !t.Allowance.Take() {
					continue
				}
				began := t.clock.Now()
				step(client)
				if !wait(ctx, t.clock, min(t.clock.Since(began), observe.LongestRest)) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	})
}

func (t *Traffic) connect(ctx context.Context) *observe.Client {
	for {
		if config, err := t.config(); err == nil {
			if client, err := observe.NewClient(t.member, config, t.recorder); err == nil {
				return client
			}
		}
		if !wait(ctx, t.clock, observe.RetryInterval) {
			return nil
		}
	}
}

// wait is false when the context ended before the time was over.
func wait(ctx context.Context, clk clock.WithTicker, d time.Duration) bool {
	timer := clk.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-ctx.Done():
		return false
	}
}
