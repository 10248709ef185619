package controllermanager

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"github.com/evenkeel/evenkeel/impl/election"
	"github.com/evenkeel/evenkeel/impl/election/acting"
	"github.com/evenkeel/evenkeel/impl/election/candidacy"
	"github.com/evenkeel/evenkeel/impl/election/planted"
)

// ExtraElectionLease is the Lease of a second component that this process is an
// instance of. It does nothing but act, so that of two components it can be seen
// who acts when. Further ones have its name with their number behind.
const ExtraElectionLease = "extra-election"

// extraElectionLease is the Lease of the extra election of a number, from 1 on.
func extraElectionLease(n int) string {
	if n == 1 {
		return ExtraElectionLease
	}
	return fmt.Sprintf("%s-%d", ExtraElectionLease, n)
}

// coordinated is whether a coordinator elects the leader.
func (m *ControllerManager) coordinated() bool {
	return m.options.ResourceLock == LockCoordinated && m.options.CanCoordinate
}

// runCoordinated takes part in the elections of all components until the context
// ends.
//
// KEP-4355: a candidate can lead one Lease only; an instance that wants to lead
// several needs a candidate for each.
func (m *ControllerManager) runCoordinated(ctx context.Context) error {
	work := func(ctx context.Context, term candidacy.Term) { m.work(ctx, term.Leading) }
	main, err := m.candidacy(m.leaseOf(LeaseName), m.options.Identity, work)
	if err != nil {
		return fmt.Errorf("controller manager: %w", err)
	}
	electors := []*planted.Elector{main}
	for n := range m.options.ExtraElections {
		extra, err := m.candidacy(extraElectionLease(n+1), m.options.Host+"_"+uuid.NewString(), nil)
		if err != nil {
			return fmt.Errorf("controller manager: %w", err)
		}
		electors = append(electors, extra)
	}
	watch(m.health, electors)
	var all sync.WaitGroup
	for _, elector := range electors {
		all.Go(func() { elector.Run(ctx) })
	}
	all.Wait()
	return nil
}

// candidacy makes an instance of a component; work may be nil.
func (m *ControllerManager) candidacy(lease, name string, work func(context.Context, candidacy.Term)) (*planted.Elector, error) {
	return planted.New(candidacy.Options{
		Client: m.client, Namespace: LeaseNamespace, Lease: lease, Name: name,
		BinaryVersion: m.options.Release + ".0", EmulationVersion: cmp.Or(m.options.Emulates, m.options.Release) + ".0",
		Timing:    election.Timing{LeaseDuration: m.options.LeaseDuration, RenewDeadline: m.options.RenewDeadline, RetryPeriod: m.options.RetryPeriod},
		Clock:     m.options.Clock,
		KeepLease: m.options.KeepLease,
		Lead: func(ctx context.Context, term candidacy.Term) {
			var doing sync.WaitGroup
			evident := term
			evident.Leading = m.mayAct(term.Leading)
			doing.Go(func() { acting.Keep(ctx, m.client, evident, m.options.Clock, *m.options.Logger) })
			if work != nil {
				doing.Go(func() { work(ctx, term) })
			}
			doing.Wait()
		},
	}, m.options.Defects)
}
