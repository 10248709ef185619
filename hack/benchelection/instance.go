package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// timing is that of a Lease.
type timing struct{ lease, deadline, retry time.Duration }

func timingOf(s cluster.Settings) timing {
	return timing{time.Duration(s.LeaderElectLeaseDuration), time.Duration(s.LeaderElectRenewDeadline), time.Duration(s.LeaderElectRetryPeriod)}
}

func (t timing) check(file string) error {
	if t.lease == 0 || t.deadline == 0 || t.retry == 0 {
		return fmt.Errorf("%s does not say how long Leases last, so that nothing can be compared", file)
	}
	return nil
}

// place is what an instance stands for, and as whom.
type place struct {
	lease, name, version string
	timing               timing
}

// stander makes an instance, which takes part until its context ends.
type stander func(config *rest.Config, p place) (run func(context.Context), err error)

// instance is one that wants to lead.
type instance struct {
	place
	// began is when it began to stand.
	began time.Time

	wire  *wire
	stop  context.CancelFunc
	ended chan struct{}
}

// begin has an instance stand for a Lease over a connection of its own.
func (s stander) begin(ctx context.Context, config *rest.Config, p place) (*instance, error) {
	i := &instance{place: p, wire: &wire{}, ended: make(chan struct{})}
	run, err := s(i.wire.attach(config), p)
	if err != nil {
		return nil, fmt.Errorf("have %s stand for %s: %w", p.name, p.lease, err)
	}
	ctx, i.stop = context.WithCancel(ctx)
	i.began = time.Now()
	go func() {
		defer close(i.ended)
		run(ctx)
	}()
	return i, nil
}

// crash ends the instance as a crash does: none of its requests reach an API server from now
// on, so that it does not release its Lease.
func (i *instance) crash() {
	i.wire.cut.Store(true)
	i.leave()
}

// leave ends it in order.
func (i *instance) leave() {
	i.stop()
	<-i.ended
}

// wire is what all requests of an instance go through.
type wire struct{ cut atomic.Bool }

var errCut = errors.New("this instance has crashed")

func (w *wire) attach(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return trip(func(r *http.Request) (*http.Response, error) {
			if w.cut.Load() {
				return nil, errCut
			}
			return next.RoundTrip(r)
		})
	})
	return config
}

type trip func(*http.Request) (*http.Response, error)

func (t trip) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }
