package scenario

import (
	"context"
	"errors"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Churn creates, changes and deletes CustomResourceDefinitions of a group of its own in quick
// succession, and deletes all of them at the end.
type Churn struct {
	// Members are selectors; each change goes through one of them.
	Members []string `yaml:"members"`
	// Rounds is the number of changes, without the deletions at the end; leave it out if
	// For says how long the changes go on.
	Rounds int `yaml:"rounds,omitempty"`
	// For is how long the changes go on, without the deletions at the end.
	For time.Duration `yaml:"for,omitempty"`
	// Resources is the number of custom resources that the step creates and deletes; 0
	// means four. With more resources, more of them exist at a time, and each stays
	// unchanged for longer.
	Resources int `yaml:"resources,omitempty"`
	// Keep leaves the resources that exist at the end to the next churn, or for good;
	// without it the step deletes all that churns have created.
	Keep bool `yaml:"keep,omitempty"`
	// Backend is an aggregated server whose APIService the step creates and deletes too; it
	// may be empty.
	Backend string `yaml:"backend,omitempty"`
}

var _ = register("churn", func() Action { return &Churn{} }, registry.Fields{
	"members":   memberList,
	"rounds":    registry.Count(1, 100, 3, 6, 20).In("rounds"),
	"for":       registry.Between(time.Second, longestHold, 5*time.Second, 30*time.Second).In("for"),
	"resources": registry.Count(1, 200, 4, 20, 100),
	"keep":      registry.Flag(),
	"backend":   registry.Known(namesBackend).With(cluster.ReachesHere),
}, anywhere)

func (s *Churn) validate() error {
	var err error
	if len(s.Members) == 0 || s.Resources < 0 {
		err = errors.New("members must be there, and resources not negative")
	}
	if s.Rounds < 0 || s.For < 0 || (s.Rounds == 0) == (s.For == 0) {
		err = errors.Join(err, errors.New("give either rounds or for, which must be positive"))
	}
	return err
}
func (s *Churn) selectors() []string { return s.Members }
func (s *Churn) backend() string     { return s.Backend }
func (s *Churn) harmless() bool      { return true }
func (s *Churn) cost() time.Duration { return max(s.For, stepCost) }

// within has room for what takes everything back afterwards.
func (s *Churn) within(*Runner, int) time.Duration { return s.For + StepTimeout }
func (s *Churn) lacking(r *Runner) string {
	return lacking("backend", s.Backend, r.backends[s.Backend] != nil)
}

func (s *Churn) play(ctx context.Context, r *Runner, at target) error {
	return r.churn(ctx, at.members, s)
}
