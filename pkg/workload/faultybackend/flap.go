package faultybackend

import (
	"context"
	"errors"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// What only a flapping server does: it has no document for any path, or fails at each.
const (
	notFound = "not found"
	fails    = "fails"
)

// flaps are what a flapping server does one after the other, each for a part of its
// period: it answers as it should, and in between 404, or 500, or it is killed. So it may
// well be called available while it answers 404.
var flaps = []string{healthy, notFound, healthy, fails, healthy, history.BackendRefuse}

// Flap has the server go through all that a flapping one does, once in each period, until
// the context ends.
func (s *Server) Flap(ctx context.Context, clk clock.WithTicker, period time.Duration) error {
	ticker := clk.NewTicker(period / time.Duration(len(flaps)))
	defer ticker.Stop()
	for turn := 0; ; turn++ {
		if err := s.turn(flaps[turn%len(flaps)]); err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return nil
		}
	}
}
