package scenario

import (
	"context"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

// Mutate starts writers that change, delete and create the objects of a Populate through
// every member, as users would. They go on after the step.
type Mutate struct {
	Population string `yaml:"population"`
	// Rate is how many writes a second each member gets; 0 stops the writers.
	Rate float64 `yaml:"rate"`
}

var _ = register("mutate", func() Action { return &Mutate{} }, registry.Fields{
	"population": registry.Known(namesPopulation),
	"rate":       registry.Rate("writes a second", 0, workload.HighestRate, 0, 0.3, 4, 20),
}, cluster.WritesObjects)

func (s *Mutate) validate() error {
	err := missing("population", s.Population)
	if wrong := workload.CheckRate(s.Rate); wrong != nil {
		err = errors.Join(err, fmt.Errorf("rate %w", wrong))
	}
	return err
}
func (s *Mutate) name(n *names) error { return n.need("population", s.Population) }
func (s *Mutate) lacking(r *Runner) string {
	return lacking("population", s.Population, r.populations[s.Population] != nil)
}

func (s *Mutate) play(ctx context.Context, r *Runner, _ target) error { return r.mutate(ctx, s) }
