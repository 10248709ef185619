package scenario

import (
	"context"
	"errors"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Restart stops members and starts them again.
type Restart struct {
	// Members are selectors.
	Members []string `yaml:"members"`
	// Together stops all members before it starts them at the same time; otherwise the
	// step restarts one after the other.
	Together bool `yaml:"together,omitempty"`
	// Release is the release to start the members at; empty means that each keeps its own.
	Release string `yaml:"release,omitempty"`
	// WithFaults and DisabledFeatures are as in an upgrade step.
	WithFaults       []string          `yaml:"withFaults,omitempty"`
	DisabledFeatures []cluster.Feature `yaml:"disabledFeatures,omitempty"`
}

var _ = register("restart", func() Action { return &Restart{} }, registry.Fields{
	"members":          memberList,
	"together":         registry.Flag(),
	"release":          released.With(cluster.RestartsAtReleases),
	"withFaults":       faultFiles,
	"disabledFeatures": features,
}, cluster.Stops)

func (s *Restart) validate() error {
	var err error
	if len(s.Members) == 0 {
		err = errors.New("members is missing")
	}
	return errors.Join(err, cluster.CheckFeatures(s.DisabledFeatures))
}
func (s *Restart) selectors() []string       { return s.Members }
func (s *Restart) release() string           { return s.Release }
func (s *Restart) accompanied()              {}
func (s *Restart) faults() []string          { return s.WithFaults }
func (s *Restart) fits(f *fault.Fault) error { return fitsAround(f) }
func (s *Restart) restarts(*Scenario) bool   { return true }

func (s *Restart) play(ctx context.Context, r *Runner, at target) error {
	return r.restart(ctx, at.members, at.releases, s)
}

// restart stops and starts members, with the faults around.
func (r *Runner) restart(ctx context.Context, members []string, releases map[string]string, step *Restart) error {
	groups := [][]string{members}
	if !step.Together {
		groups = slices.Collect(slices.Chunk(members, 1))
	}
	for _, group := range groups {
		if err := r.around(ctx, group, step.WithFaults, func() error { return r.stopAndStart(ctx, group, releases, step.DisabledFeatures) }); err != nil {
			return err
		}
	}
	return nil
}
