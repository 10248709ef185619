package storageversion

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// departed are the identity Leases whose servers are gone: those that are over,
// but never our own.
func departed(leases []coordinationv1.Lease, serverID string, over func(*coordinationv1.Lease) bool) []coordinationv1.Lease {
	var gone []coordinationv1.Lease
	for i := range leases {
		if lease := leases[i]; lease.Name != serverID && lease.Labels[IdentityLabel] == IdentityValue && over(&lease) {
			gone = append(gone, lease)
		}
	}
	return gone
}

// longExpired is whether a Lease expired a while ago.
func longExpired(lease *coordinationv1.Lease, now time.Time) bool {
	return expired(lease, LeaseGCGrace, now)
}

// keepCollectingLeases deletes the Leases of servers that are gone, at an interval.
// Every server does it, so one running server is enough.
//
// KEP-2339 leaves open how the list of participants is curated.
func (m *Manager) keepCollectingLeases(ctx context.Context, client kubernetes.Interface) {
	for m.wait(ctx, LeaseGCInterval) {
		m.collectLeases(ctx, client)
	}
}

// collectLeases is one pass. It must not keep a server from registering, so a
// failure is left to the next pass.
func (m *Manager) collectLeases(ctx context.Context, client kubernetes.Interface) {
	err := m.deleteDeparted(ctx, client)
	if err == nil || ctx.Err() != nil {
		m.troubles.Over(removingLeases)
	} else {
		m.troubles.Failed(removingLeases, err)
		m.config.Logger.Error(err, "Cannot remove expired identity Leases", "server", m.config.ServerID)
	}
}

func (m *Manager) deleteDeparted(ctx context.Context, client kubernetes.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	leases := client.CoordinationV1().Leases(LeaseNamespace)
	list, err := leases.List(ctx, metav1.ListOptions{LabelSelector: IdentitySelector})
	if err != nil {
		return fmt.Errorf("listing identity Leases: %w", err)
	}
	now := m.config.Clock.Now()
	over := func(lease *coordinationv1.Lease) bool { return m.decide.expired(lease, now) }
	for _, lease := range departed(list.Items, m.config.ServerID, over) {
		// A Lease that was renewed or taken over meanwhile stays.
		err := leases.Delete(ctx, lease.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
			UID: &lease.UID, ResourceVersion: &lease.ResourceVersion,
		}})
		switch {
		case apierrors.IsNotFound(err), apierrors.IsConflict(err):
			continue
		case err != nil:
			return fmt.Errorf("deleting the identity Lease of %s: %w", lease.Name, err)
		}
		m.config.Logger.Info("Removed the expired identity Lease of a server that is gone", "departed", lease.Name, "renewed", lease.Spec.RenewTime)
	}
	return nil
}
