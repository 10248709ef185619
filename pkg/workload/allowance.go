package workload

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/observe"
)

// Allowance is how many requests the traffic and the probes of a run may send to a cluster that
// its users share: so many a second, and so many in all. What is not allowed is not sent, and
// delays nothing. A nil Allowance allows everything.
type Allowance struct {
	clock clock.PassiveClock
	rate  float64

	mu     sync.Mutex
	left   int64
	tokens float64
	at     time.Time
}

// NewAllowance allows so many requests a second, and so many in all.
func NewAllowance(perSecond float64, budget int64, clk clock.PassiveClock) *Allowance {
	return &Allowance{clock: clk, rate: perSecond, left: budget, tokens: 1, at: clk.Now()}
}

// Take is whether one more request may be sent now.
func (a *Allowance) Take() bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Now()
	// A second's worth is the most that is saved up: streams are not in step.
	a.tokens = min(a.tokens+a.rate*now.Sub(a.at).Seconds(), max(a.rate, 1))
	a.at = now
	if a.left <= 0 || a.tokens < 1 {
		return false
	}
	a.left--
	a.tokens--
	return true
}

// Left is how many requests may still be sent; ok is false where that has no bound.
func (a *Allowance) Left() (left int64, ok bool) {
	if a == nil {
		return 0, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.left, true
}

// Limit has each step of the probes take its turn only where it is allowed.
func (a *Allowance) Limit(probes []observe.Probe) []observe.Probe {
	if a == nil {
		return probes
	}
	for i := range probes {
		step := probes[i].Step
		probes[i].Step = func(ctx context.Context, client *observe.Client) {
			if a.Take() {
				step(ctx, client)
			}
		}
	}
	return probes
}
