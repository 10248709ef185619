package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/workload/faultybackend"
)

// SetBackendBehavior changes the behavior of an aggregated server of the scenario.
type SetBackendBehavior struct {
	Name string `yaml:"name"`
	// Behavior is a misbehavior; "answer" means that the server answers correctly again.
	Behavior string `yaml:"behavior"`
	// Unaggregated is whether the server, whenever it answers correctly from now on, has no
	// aggregated discovery, as servers that are built on an older library.
	Unaggregated bool `yaml:"unaggregated,omitempty"`
	// WithoutGroups is whether the server, whenever it answers correctly from now on, answers 404
	// at /apis, as servers that are written without the library.
	WithoutGroups bool `yaml:"withoutGroups,omitempty"`
	// Grown is whether the server, whenever it answers correctly from now on, hosts one resource
	// more in each version, as a newer release of it does.
	Grown bool `yaml:"grown,omitempty"`
	// For is how long the step waits before the next step is played.
	For time.Duration `yaml:"for,omitempty"`
}

var _ = register("setBackendBehavior", func() Action { return &SetBackendBehavior{} }, registry.Fields{
	"name":          registry.Known(namesBackend),
	"behavior":      registry.OneOf(append(faultybackend.Behaviors(), doesAnswer)...),
	"unaggregated":  registry.Flag(),
	"withoutGroups": registry.Flag(),
	"grown":         registry.Flag(),
	"for":           outage,
}, cluster.ReachesHere)

func (b *SetBackendBehavior) backend() string { return b.Name }
func (b *SetBackendBehavior) harmless() bool  { return b.Behavior == doesAnswer }
func (b *SetBackendBehavior) lacking(r *Runner) string {
	return lacking("backend", b.Name, r.backends[b.Name] != nil)
}

func (b *SetBackendBehavior) play(ctx context.Context, r *Runner, _ target) error {
	return r.setBackendBehavior(ctx, b)
}

func (b *SetBackendBehavior) validate() error {
	err := missing("name", b.Name)
	if b.Behavior != doesAnswer && !slices.Contains(faultybackend.Behaviors(), b.Behavior) {
		err = errors.Join(err, fmt.Errorf("behavior must be %s or one of %s", doesAnswer, strings.Join(faultybackend.Behaviors(), ", ")))
	}
	if b.For < 0 {
		err = errors.Join(err, errors.New("for must not be negative"))
	}
	return err
}
