package scenario

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/pkg/fault"
)

// Partition cuts links by a fault, and returns when the components are ready again.
type Partition struct {
	Strike `yaml:",inline"`
}

var _ = register("partition", func() Action { return &Partition{} }, strikeFields, anywhere)

func (s *Partition) fits(f *fault.Fault) error {
	switch {
	case !f.Partitions():
		return errors.New("cuts no link")
	case f.Duration == 0:
		return errors.New("has no spec.duration, so that the partition would be over at once")
	}
	return s.Strike.fits(f)
}

func (s *Partition) play(ctx context.Context, r *Runner, at target) error {
	return r.strike(ctx, at.members, s.Fault, 0)
}
