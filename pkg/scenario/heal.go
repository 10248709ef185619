package scenario

import (
	"context"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fault"
)

// Heal heals a fault that an inject step has injected: at the members, or everywhere if the
// step names no member.
type Heal struct {
	Strike `yaml:",inline"`
}

var _ = register("heal", func() Action { return &Heal{} }, strikeFields, anywhere)

func (s *Heal) fits(f *fault.Fault) error {
	if f.Member == fault.StepMember && s.Member == "" {
		return nil
	}
	return s.Strike.fits(f)
}

func (s *Heal) lacking(r *Runner) string {
	return lacking("fault", s.Fault, len(r.active[s.Fault]) > 0)
}

func (s *Heal) play(ctx context.Context, r *Runner, at target) error {
	return r.heal(ctx, s.Fault, at.members)
}

// heal heals what inject steps have left at the members, or everywhere if none
// is given.
func (r *Runner) heal(ctx context.Context, file string, members []string) error {
	var healed, left []*fault.Active
	for _, one := range r.active[file] {
		if len(members) == 0 || slices.Contains(members, one.Member) {
			healed = append(healed, one)
		} else {
			left = append(left, one)
		}
	}
	if len(healed) == 0 {
		return fmt.Errorf("the fault %s is not there to be healed", file)
	}
	r.active[file] = left
	return healAll(ctx, healed)
}
