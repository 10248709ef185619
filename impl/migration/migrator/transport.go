package migrator

import (
	"context"
	"net/http"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// pacer hands out turns at the distances that the pace gives.
type pacer struct {
	clock clock.WithTicker

	mu   sync.Mutex
	pace migration.Pace
	next time.Time
}

func newPacer(most float64, clock clock.WithTicker) *pacer {
	return &pacer{clock: clock, pace: migration.NewPace(most)}
}

// wait returns when it is the caller's turn, or with the context's error.
func (p *pacer) wait(ctx context.Context) error {
	p.mu.Lock()
	now := p.clock.Now()
	turn := p.next
	if turn.Before(now) {
		turn = now
	}
	p.next = turn.Add(p.pace.Interval())
	p.mu.Unlock()
	if !turn.After(now) {
		return ctx.Err()
	}
	timer := p.clock.NewTimer(turn.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answered takes an answer into account.
func (p *pacer) answered(s migration.Sample) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pace = p.pace.After(s)
	paceRate.Set(p.pace.Rate)
}

// transport stands under all requests of a Migrator. Every write waits for its
// turn there, those that the client library repeats by itself included, and none
// is sent once the leadership is in doubt.
type transport struct {
	next    http.RoundTripper
	pacer   *pacer
	leading func() error
	// reads is whether reads wait for their turn as well.
	//
	// KEP-25: a migration causes only insignificant load. A list of objects is as much
	// load as a write at least.
	reads bool
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	read := req.Method == http.MethodGet
	if read && !t.reads {
		return t.next.RoundTrip(req)
	}
	if err := t.pacer.wait(req.Context()); err != nil {
		return nil, err
	}
	if !read {
		if err := t.leading(); err != nil {
			return nil, err
		}
	}
	start := t.pacer.clock.Now()
	answer, err := t.next.RoundTrip(req)
	throttled := err != nil || answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusServiceUnavailable
	// How long a list takes says more about the objects than about the load.
	if req.Context().Err() == nil && (throttled || !read) {
		t.pacer.answered(migration.Sample{Latency: t.pacer.clock.Since(start), Throttled: throttled})
	}
	return answer, err
}
