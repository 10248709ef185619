package scenario

import (
	"context"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// WaitForHits waits until a fault of requests has hit some. If it hits none, the step ends
// after a while; then the fault has no witness, and the requirements that need it stay
// inconclusive.
type WaitForHits struct {
	// Fault names the file that an inject step has named.
	Fault string `yaml:"fault"`
	// Requests is how many requests the fault must have hit, at least one; Completed is how
	// many of them must have been answered.
	Requests  int `yaml:"requests,omitempty"`
	Completed int `yaml:"completed,omitempty"`
}

var _ = register("waitForHits", func() Action { return &WaitForHits{} }, registry.Fields{
	"fault":     registry.AFault(),
	"requests":  registry.Count(1, 1000, 1, 5),
	"completed": registry.Count(0, 1000, 1, 5),
}, anywhere)

func (s *WaitForHits) validate() error {
	err := missing("fault", s.Fault)
	if s.Requests < 0 || s.Completed < 0 {
		err = errors.Join(err, errors.New("requests and completed must not be negative"))
	}
	return err
}
func (s *WaitForHits) faults() []string { return []string{s.Fault} }
func (s *WaitForHits) lacking(r *Runner) string {
	return lacking("fault", s.Fault, len(r.active[s.Fault]) > 0)
}

func (s *WaitForHits) fits(f *fault.Fault) error {
	if !f.HitsRequests() {
		return errors.New("hits no requests that could be waited for")
	}
	return nil
}

func (s *WaitForHits) play(ctx context.Context, r *Runner, _ target) error {
	return r.waitForHits(ctx, s)
}

// waitForHits waits for requests that a fault has hit.
func (r *Runner) waitForHits(ctx context.Context, waitForHits *WaitForHits) error {
	injected := r.active[waitForHits.Fault]
	if len(injected) == 0 {
		return fmt.Errorf("the fault %s is not there to be met", waitForHits.Fault)
	}
	since := r.History.Now()
	bounded, cancel := context.WithTimeoutCause(ctx, HitsTimeout, errNotMet)
	defer cancel()
	for _, one := range injected {
		err := one.Met(bounded, max(1, waitForHits.Requests, waitForHits.Completed), waitForHits.Completed)
		switch {
		case errors.Is(err, errNotMet):
			r.passOver(ctx, since, HitsTimeout, history.AwaitedState, one.Member, "the fault %s has not met as many requests as the step waits for", waitForHits.Fault)
		case err != nil:
			return err
		}
	}
	return nil
}

// errNotMet: no component asked for what the fault is about.
var errNotMet = errors.New("the fault met no request")
