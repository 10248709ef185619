package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fault"
)

// Strike is a fault and its target.
type Strike struct {
	// Fault names a file in the fixtures' folder of faults.
	Fault string `yaml:"fault"`
	// Member is the selector for @member in the file of the fault.
	Member string `yaml:"member,omitempty"`
}

func (s *Strike) validate() error { return missing("fault", s.Fault) }
func (s *Strike) selectors() []string {
	if s.Member == "" {
		return nil
	}
	return []string{s.Member}
}
func (s *Strike) faults() []string           { return []string{s.Fault} }
func (s *Strike) restarts(sc *Scenario) bool { return sc.endsServers(s.Fault) }

// fits returns an error unless either the step or the fault selects the member, and not both.
func (s *Strike) fits(f *fault.Fault) error {
	switch {
	case f.Member == fault.StepMember && s.Member == "":
		return errors.New("leaves the member to the step, which names none")
	case f.Member != fault.StepMember && s.Member != "":
		return fmt.Errorf("names the member %s itself, so the step must not name one", f.Member)
	}
	return nil
}

// strike injects a fault for a while, at members or at the target that the fault itself names,
// and returns when the components are ready again.
func (r *Runner) strike(ctx context.Context, members []string, file string, downFor time.Duration) error {
	earlier := r.active[file]
	struck, err := r.injectAt(ctx, members, file)
	if err != nil {
		return err
	}
	if err := r.wait(ctx, downFor+r.Scenario.Faults[file].Duration); err != nil {
		return err
	}
	r.active[file] = earlier
	var hit []string
	for _, one := range struck {
		hit = append(hit, one.Member)
	}
	if err := healAll(ctx, struck); err != nil {
		return err
	}
	return r.recorders.waitReady(ctx, hit...)
}

// injectAt injects a fault until it is healed, at members or at the target that the fault
// itself names.
func (r *Runner) injectAt(ctx context.Context, members []string, file string) ([]*fault.Active, error) {
	if len(members) == 0 {
		members = []string{""}
	}
	earlier := r.active[file]
	var struck []*fault.Active
	for _, member := range members {
		active, err := r.inject(ctx, file, member)
		struck = append(struck, active...)
		r.active[file] = slices.Concat(earlier, struck)
		if err != nil {
			return struck, err
		}
	}
	return struck, nil
}
