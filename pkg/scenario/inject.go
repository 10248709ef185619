package scenario

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/pkg/fault"
)

// Inject injects a fault, which stays active until a heal step.
type Inject struct {
	Strike `yaml:",inline"`
}

const actionInject = "inject"

var _ = register(actionInject, func() Action { return &Inject{} }, strikeFields, anywhere)

func (s *Inject) fits(f *fault.Fault) error {
	if f.Duration > 0 {
		return errors.New("has a spec.duration, but lasts until a step heals it; leave the duration out")
	}
	return s.Strike.fits(f)
}

func (s *Inject) play(ctx context.Context, r *Runner, at target) error {
	_, err := r.injectAt(ctx, at.members, s.Fault)
	return err
}
