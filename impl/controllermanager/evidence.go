package controllermanager

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/election/acting"
	"github.com/evenkeel/evenkeel/impl/election/candidacy"
	"github.com/evenkeel/evenkeel/impl/election/fence"
)

// act leaves evidence of a leader that no coordinator elected, until the context ends.
//
// KEP-4355: instances with and without coordination share a Lease while users enable or
// disable the feature one by one; an observer must be able to tell which instance acts.
func (m *ControllerManager) act(ctx context.Context, elector *leaderelection.LeaderElector, lock *fence.Lock) {
	term := candidacy.Term{
		Lease: LeaseNamespace + "/" + m.leaseOf(LeaseName), Holder: m.options.Identity, Version: m.options.Release + ".0",
		Leading: m.leadingBy(elector, lock.Leading),
	}
	// The number of the term is for readers; without it there is evidence all the same.
	if lease, err := m.client.CoordinationV1().Leases(LeaseNamespace).Get(ctx, m.leaseOf(LeaseName), metav1.GetOptions{}); err == nil {
		term.Number = ptr.Deref(lease.Spec.LeaseTransitions, 0)
	}
	term.Leading = m.mayAct(term.Leading)
	acting.Keep(ctx, m.client, term, m.options.Clock, *m.options.Logger)
}
