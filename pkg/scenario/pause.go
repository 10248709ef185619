package scenario

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/pkg/fault"
)

// Pause freezes processes by a fault, and returns when the components are ready again.
type Pause struct {
	Strike `yaml:",inline"`
}

var _ = register("pause", func() Action { return &Pause{} }, strikeFields, anywhere)

func (s *Pause) fits(f *fault.Fault) error {
	switch {
	case !f.Pauses():
		return errors.New("freezes no process")
	case f.Duration == 0:
		return errors.New("has no spec.duration, so that the pause would be over at once")
	}
	return s.Strike.fits(f)
}

func (s *Pause) play(ctx context.Context, r *Runner, at target) error {
	return r.strike(ctx, at.members, s.Fault, 0)
}
