package scenario

import (
	"context"
	"errors"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Crash kills processes by a fault, and returns when the components are ready again.
type Crash struct {
	Strike `yaml:",inline"`
	// DownFor is how long the processes stay down.
	DownFor time.Duration `yaml:"downFor,omitempty"`
}

var _ = register("crash", func() Action { return &Crash{} }, strikeFields.And(registry.Fields{"downFor": outage}), anywhere)

func (s *Crash) validate() error {
	err := s.Strike.validate()
	if s.DownFor < 0 {
		err = errors.Join(err, errors.New("downFor must not be negative"))
	}
	return err
}

func (s *Crash) fits(f *fault.Fault) error {
	if !f.Crashes() {
		return errors.New("kills no process")
	}
	return s.Strike.fits(f)
}

func (s *Crash) play(ctx context.Context, r *Runner, at target) error {
	return r.strike(ctx, at.members, s.Fault, s.DownFor)
}
