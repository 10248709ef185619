// Package retry keeps what a component tries again because it has failed: since when, how often,
// and with which error. A readiness check and a metric show it.
package retry

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Gauge shows for how long something has been tried without success. It is told when the attempts
// are over, too.
type Gauge interface {
	Set(what string, tried time.Duration)
	Delete(what string)
}

// Troubles are what has failed and is tried again. They are safe for concurrent use.
type Troubles struct {
	clock clock.PassiveClock
	gauge Gauge

	mu   sync.Mutex
	open map[string]trouble
}

type trouble struct {
	since    time.Time
	attempts int
	last     error
}

// New returns troubles of which there are none yet.
func New(c clock.PassiveClock, gauge Gauge) *Troubles {
	return &Troubles{clock: c, gauge: gauge, open: map[string]trouble{}}
}

// Failed records that an attempt has failed. It returns how often in a row it has.
func (t *Troubles) Failed(what string, err error) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	one, known := t.open[what]
	if !known {
		one.since = now
	}
	one.attempts, one.last = one.attempts+1, err
	t.open[what] = one
	t.gauge.Set(what, now.Sub(one.since))
	return one.attempts
}

// Over records that something has succeeded, or is not tried any more.
func (t *Troubles) Over(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.open[what]; known {
		delete(t.open, what)
		t.gauge.Delete(what)
	}
}

// Longest describes what has failed for the longest time, or returns nil if nothing has.
func (t *Troubles) Longest() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var name string
	var longest trouble
	for what, one := range t.open {
		if name == "" || one.since.Before(longest.since) || one.since.Equal(longest.since) && what < name {
			name, longest = what, one
		}
	}
	if name == "" {
		return nil
	}
	return fmt.Errorf("%s has failed %d times in %v: %w", name, longest.attempts, t.clock.Since(longest.since).Round(time.Second), longest.last)
}
