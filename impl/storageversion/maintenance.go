package storageversion

import (
	"context"
	"fmt"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel/evenkeel/impl/follow"
)

// maintain keeps a registered server's reports as they should be, until the
// context ends: at once where a watch shows damage, and in rounds.
func (m *Manager) maintain(ctx context.Context, client kubernetes.Interface) {
	m.decide.maintains(ctx)
	watching := m.watchReports(ctx, client)
	// A ticker, so that repairs do not put the rounds off.
	rounds := m.config.Clock.NewTicker(m.decide.verifyEvery)
	defer rounds.Stop()
	for {
		select {
		case <-watching:
			// The watch does not show deletions before it began.
			watching = nil
			m.verify(ctx, client)
		case <-rounds.C():
			m.verify(ctx, client)
		case <-m.repair.ready:
			m.restore(ctx, client, m.repair.take())
		case <-ctx.Done():
			return
		}
	}
}

// restore reports again where a report is missing or wrong, or where the
// agreement is not what it should be.
func (m *Manager) restore(ctx context.Context, client kubernetes.Interface, names []string) {
	if !m.decide.checks {
		return
	}
	if err := m.reportAll(ctx, client, names, upkeep); err != nil && ctx.Err() == nil {
		m.config.Logger.Error(err, "Leaving storage versions to the next round of verification", "server", m.config.ServerID)
	}
}

// verify is one round: it writes where an object differs from what a report
// would make of it, and nowhere else.
func (m *Manager) verify(ctx context.Context, client kubernetes.Interface) {
	names, err := m.outdated(ctx, client)
	if err != nil {
		if ctx.Err() == nil {
			m.troubles.Failed(inspecting, err)
			m.config.Logger.Error(err, "Cannot verify the published entries", "server", m.config.ServerID)
		}
		return
	}
	m.troubles.Over(inspecting)
	m.restore(ctx, client, names)
	m.decide.verified(ctx, client)
}

// outdated are the objects that a report would change. It reads all objects
// first and the participants second, as a report does with one.
func (m *Manager) outdated(ctx context.Context, client kubernetes.Interface) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	list, err := client.InternalV1alpha1().StorageVersions().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing storage versions: %w", err)
	}
	objects := make(map[string]*apiserverinternalv1alpha1.StorageVersion, len(list.Items))
	var entries []apiserverinternalv1alpha1.ServerStorageVersion
	for i := range list.Items {
		objects[list.Items[i].Name] = &list.Items[i]
		entries = append(entries, list.Items[i].Status.StorageVersions...)
	}
	participants, err := ReadParticipants(ctx, client.CoordinationV1().Leases(LeaseNamespace), entries)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range m.names() {
		sv, exists := objects[name]
		if !exists {
			names = append(names, name)
			continue
		}
		want, _ := m.want(name)
		status, err := m.merged(&sv.Status, want, participants, upkeep)
		if err != nil {
			m.renew.put(m.config.ServerID)
			return nil, err
		}
		if !sameStatus(&sv.Status, &status) {
			names = append(names, name)
		}
	}
	return names, nil
}

// watchReports restores an object as soon as the watch shows it without our report.
// The object of the watch may be old; the report reads it from the API server. The
// returned channel is closed when the watch has begun.
func (m *Manager) watchReports(ctx context.Context, client kubernetes.Interface) <-chan struct{} {
	objects := follow.New(client, client.InternalV1alpha1().StorageVersions(), nil, func(before, sv *apiserverinternalv1alpha1.StorageVersion) {
		if sv == nil {
			if _, ours := m.want(before.Name); ours {
				m.repair.put(before.Name)
			}
		} else if want, ours := m.want(sv.Name); ours && damaged(&sv.Status, m.config.ServerID, want.entries) {
			m.repair.put(sv.Name)
		}
	})
	go objects.Run(ctx)
	return objects.Listed()
}
