package scenario

import (
	"context"
	"errors"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Churn defines, changes and takes back custom resources of a group of its own
// in quick succession, and leaves none behind.
type Churn struct {
	// Members are selectors; each change goes through one of them.
	Members []string `yaml:"members"`
	// Rounds is how many changes there are, those that take all back not counted; 0 where
	// For says how long they go on instead.
	Rounds int `yaml:"rounds,omitempty"`
	// For is for how long there are changes, those that take all back not counted.
	For time.Duration `yaml:"for,omitempty"`
	// Resources is how many custom resources come and go; four if it is 0. More of them
	// are there at a time, and the longer each of them stays as it is.
	Resources int `yaml:"resources,omitempty"`
	// Keep leaves what is there at the end, to the next churn or for good; without it all that
	// churns have made is taken back.
	Keep bool `yaml:"keep,omitempty"`
	// Backend is an aggregated server that comes and goes too; may be empty.
	Backend string `yaml:"backend,omitempty"`
}

var _ = register("churn", func() Action { return &Churn{} })

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

// within has room for what takes everything back afterwards.
func (s *Churn) within(*Runner, int) time.Duration { return s.For + StepTimeout }
func (s *Churn) lacking(r *Runner) string {
	return lacking("backend", s.Backend, r.backends[s.Backend] != nil)
}

func (s *Churn) impossible(_ *Scenario, c cluster.ExternallyManaged) string {
	return remote(c, s.Backend)
}

func (s *Churn) play(ctx context.Context, r *Runner, at target) error {
	return r.churn(ctx, at.members, s)
}
