package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// ended waits until the process is no longer that of the component.
func (e *Executor) ended(ctx context.Context, member string, component cluster.Component, before cluster.Process) bool {
	ctx, cancel := context.WithTimeout(ctx, EndedTimeout)
	defer cancel()
	for {
		if now, ok := e.cluster.Process(member, component); !ok || now != before {
			return true
		}
		timer := e.clock.NewTimer(LookInterval)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
}

// processes describes those of a component that run, or of all components.
func (e *Executor) processes(member string, component cluster.Component) []string {
	components := []cluster.Component{component}
	if component == cluster.Whole {
		components = e.components(member)
	}
	var found []string
	for _, one := range components {
		if process, ok := e.cluster.Process(member, one); ok {
			found = append(found, fmt.Sprintf("%s (%s)", one, describe(process)))
		}
	}
	return found
}

// silent is whether the member's API server leaves a request unanswered.
func (e *Executor) silent(ctx context.Context, member string) bool {
	bounded, cancel := context.WithTimeout(ctx, SilenceBound)
	defer cancel()
	_, err := e.api.RoundTrip(bounded, member)
	return errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
}

// shortest is the shortest of a few round trips.
func (e *Executor) shortest(ctx context.Context, member string) (time.Duration, error) {
	var shortest time.Duration
	for i := range RoundTrips {
		took, err := e.api.RoundTrip(ctx, member)
		if err != nil {
			return 0, err
		}
		if i == 0 || took < shortest {
			shortest = took
		}
	}
	return shortest, nil
}

func describe(p cluster.Process) string {
	if !p.Seen() {
		return fmt.Sprintf("started at %s by its own word", time.UnixMilli(p.StartTime*10).UTC().Format(time.RFC3339Nano))
	}
	return fmt.Sprintf("pid %d, started at tick %d", p.PID, p.StartTime)
}
