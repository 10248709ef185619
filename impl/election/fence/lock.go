// Package fence tells a leader of client-go's leader election whether it may still act.
package fence

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/evenkeel/evenkeel/impl/election/steady"
)

// ErrDeposed means that another instance may hold the Lease by now.
var ErrDeposed = errors.New("leadership is over or in doubt")

// Lock is a lock that remembers when the last renewal that succeeded was sent. client-go counts
// from the answer, and for as long as the Lease lasts: an answer that is late by more than the
// Lease lasts would have two leaders act.
type Lock struct {
	resourcelock.Interface
	// Deadline is for how long a renewal counts, from when it was sent. It must be shorter
	// than the Lease lasts.
	Deadline time.Duration
	// Clock counts through a suspend of the machine.
	Clock steady.Clock

	mu      sync.Mutex
	leading bool
	renewed steady.Time
}

// Create creates the Lease.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(record, func() error { return l.Interface.Create(ctx, record) })
}

// Update renews the Lease, takes it or gives it up.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(record, func() error { return l.Interface.Update(ctx, record) })
}

func (l *Lock) write(record resourcelock.LeaderElectionRecord, write func() error) error {
	sent, holds := l.Clock(), record.HolderIdentity == l.Identity()
	if !holds {
		l.note(false, sent) // The leader's work has ended before it gives the Lease up.
	}
	if err := write(); err != nil {
		return err
	}
	l.note(holds, sent)
	return nil
}

func (l *Lock) note(leading bool, renewed steady.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leading, l.renewed = leading, renewed
}

// Leading says why this instance may do nothing any more, if so. Ask right before each thing
// that must not be done by two instances.
func (l *Lock) Leading() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leading && l.Clock().Sub(l.renewed) < l.Deadline {
		return nil
	}
	return ErrDeposed
}

// Held is for how long the Lease has not been renewed while this instance holds it, and
// whether it does.
func (l *Lock) Held() (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Clock().Sub(l.renewed), l.leading
}
