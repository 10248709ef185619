package discovery

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// rhythm is the time that passes between fetches.
type rhythm struct {
	clock  clock.WithTicker
	mu     sync.Mutex
	random *rand.Rand
}

func newRhythm(clock clock.WithTicker, random *rand.Rand) *rhythm {
	return &rhythm{clock: clock, random: random}
}

// keep fetches again and again until the context ends. Fetch returns how many in
// a row have failed, the last one included. Hurry shortens the pause.
func (r *rhythm) keep(ctx context.Context, hurry <-chan struct{}, fetch func() int) {
	for {
		failed := fetch()
		// However much hurry there is, a server is left alone for a while.
		if !r.wait(ctx, fetchSpacing, nil) || !r.wait(ctx, pauseUntilFetch(failed, r.luck())-fetchSpacing, hurry) {
			return
		}
	}
}

func (r *rhythm) luck() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.random.Float64()
}

// wait returns true after a pause, or as soon as there is hurry, and false when
// the context ends.
func (r *rhythm) wait(ctx context.Context, pause time.Duration, hurry <-chan struct{}) bool {
	timer := r.clock.NewTimer(max(pause, 0))
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-hurry:
		return true
	case <-ctx.Done():
		return false
	}
}
