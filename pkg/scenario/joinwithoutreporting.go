package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// JoinWithoutReporting stops a member's API server, removes its identity Lease and its
// entries, and starts it again while a fault holds the writes by which it reports its storage
// versions.
type JoinWithoutReporting struct {
	Member string `yaml:"member"`
	// Fault names the file of a fault that holds the reports of the API server.
	Fault string `yaml:"fault"`
	// For is how long the API server does not report, counted from its first held report.
	For time.Duration `yaml:"for"`
}

var _ = register("joinWithoutReporting", func() Action { return &JoinWithoutReporting{} }, registry.Fields{"member": someMembers, "fault": registry.AFault(), "for": outage}, cluster.ChangesControlPlane)

func (s *JoinWithoutReporting) validate() error {
	err := errors.Join(missing("member", s.Member), missing("fault", s.Fault))
	if s.For <= 0 {
		err = errors.Join(err, errors.New("for must be a positive duration"))
	}
	return err
}
func (s *JoinWithoutReporting) selectors() []string     { return []string{s.Member} }
func (s *JoinWithoutReporting) faults() []string        { return []string{s.Fault} }
func (s *JoinWithoutReporting) restarts(*Scenario) bool { return true }

func (s *JoinWithoutReporting) fits(f *fault.Fault) error {
	if !f.Holds() || f.Member != fault.StepMember {
		return fmt.Errorf("must hold requests to etcd, of the member %s", fault.StepMember)
	}
	return nil
}

func (s *JoinWithoutReporting) play(ctx context.Context, r *Runner, at target) error {
	return r.joinWithoutReporting(ctx, at.members, s)
}

// joinWithoutReporting has the API servers of members join anew one after the other, each
// with its reports held.
func (r *Runner) joinWithoutReporting(ctx context.Context, members []string, silence *JoinWithoutReporting) error {
	for _, member := range members {
		if err := r.silenceOver(ctx, member, silence); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) silenceOver(ctx context.Context, member string, silence *JoinWithoutReporting) error {
	if err := r.depart(ctx, member); err != nil {
		// The run may go on, which it is to do with all members.
		if _, runs := r.cluster.Process(member, cluster.APIServer); !runs && ctx.Err() == nil {
			err = errors.Join(err, r.cluster.StartComponent(ctx, member, cluster.APIServer))
		}
		return err
	}
	injected, err := r.inject(ctx, silence.Fault, member)
	r.active[silence.Fault] = slices.Concat(r.active[silence.Fault], injected)
	if err != nil {
		return err
	}
	// The API server is not ready before it has reported, so the step does not wait for
	// that yet.
	started := make(chan error, 1)
	go func() { started <- r.cluster.StartComponent(ctx, member, cluster.APIServer) }()
	err = func() error {
		bite, cancel := r.within(ctx, BiteTimeout, history.AwaitedState, member, "%s wrote nothing that could be held", member)
		defer cancel()
		if err := injected[0].Met(bite, 1, 0); err != nil {
			return err
		}
		return r.wait(ctx, silence.For)
	}()
	err = errors.Join(err, r.heal(ctx, silence.Fault, []string{member}))
	if err = errors.Join(err, <-started); err != nil {
		return err
	}
	return r.recorders.waitReady(ctx, member)
}

// depart stops a member's API server, takes it out of the participants, and waits
// until no StorageVersion has an entry of it any more.
func (r *Runner) depart(ctx context.Context, member string) error {
	through, client, err := r.clientBeside(member)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := r.cluster.StopComponent(ctx, member, cluster.APIServer); err != nil {
		return err
	}
	id := r.serverID(member)
	if err := r.send(ctx, through, leaseCall("delete", id), http.StatusNotFound); err != nil {
		return err
	}
	ctx, cancel := r.within(ctx, DepartTimeout, history.AwaitedState, member, "StorageVersions have not lost all entries of %s, whose identity Lease was deleted,", member)
	defer cancel()
	for {
		names, err := reporting(ctx, client, id)
		if err == nil && len(names) == 0 {
			return nil
		}
		if err := r.wait(ctx, observe.RetryInterval); err != nil {
			return err
		}
	}
}
