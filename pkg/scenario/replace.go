package scenario

import (
	"context"
	"errors"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
)

// Replace stops all components of a member and starts them at another release.
type Replace struct {
	Member string `yaml:"member"`
	// To is a release, or a release relative to the member's: @next, @previous, @oldest,
	// @newest, @start (the member's first release), @start+1 (the release after that), or
	// @start+2.
	To string `yaml:"to"`
	// Emulate is the version that the member's components emulate from then on, such as 1.36,
	// or a release relative to the member's before the step, whose version it is: with @start
	// the binaries of the other release behave like those of the first one. Empty means the
	// version of the binaries.
	Emulate string `yaml:"emulate,omitempty"`
	// WithFaults names faults that are active from before the stop until the member is
	// ready again.
	WithFaults []string `yaml:"withFaults,omitempty"`
	// DisabledFeatures are features, such as storageVersions, that the member's components
	// have disabled from then on; empty enables all of them again.
	DisabledFeatures []cluster.Feature `yaml:"disabledFeatures,omitempty"`
}

func (s *Replace) validate() error {
	return errors.Join(missing("member", s.Member), missing("to", s.To), cluster.CheckFeatures(s.DisabledFeatures))
}
func (s *Replace) selectors() []string       { return []string{s.Member} }
func (s *Replace) release() string           { return s.To }
func (s *Replace) accompanied()              {}
func (s *Replace) faults() []string          { return s.WithFaults }
func (s *Replace) fits(f *fault.Fault) error { return fitsAround(f) }
func (s *Replace) restarts(*Scenario) bool   { return true }
func (s *Replace) emulated() (version, compatible string, names bool) {
	return s.Emulate, "", s.Emulate != ""
}

func (s *Replace) within(r *Runner, members int) time.Duration {
	if _, replaces := r.cluster.(cluster.NodeUpgrader); replaces && r.foreign == nil {
		return ReplaceTimeout * time.Duration(members)
	}
	return 0
}

func (s *Replace) play(ctx context.Context, r *Runner, at target) error {
	return r.replace(ctx, at.members, at.releases, s.WithFaults, s.DisabledFeatures)
}

// fitsAround is an error about a fault that cannot be there while a step stops and starts a
// member.
func fitsAround(f *fault.Fault) error {
	if f.Crashes() || f.Duration > 0 {
		return errors.New("cannot go with a step that stops and starts the member: it kills processes or has a spec.duration")
	}
	return nil
}

// replace takes members to other releases one after the other, in the
// provider's own way if it has one.
func (r *Runner) replace(ctx context.Context, members []string, releases map[string]string, with []string, off []cluster.Feature) error {
	replacer, replaces := r.cluster.(cluster.NodeUpgrader)
	for _, member := range members {
		err := r.around(ctx, []string{member}, with, func() error {
			if release := releases[member]; replaces && release != r.cluster.Release(member) {
				if err := r.switchOff(member, off); err != nil {
					return err
				}
				return replacer.Replace(ctx, member, release)
			}
			return r.stopAndStart(ctx, []string{member}, releases, off)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
