package storageversion

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// A silent server is a server with the storage version API disabled.
//
// By KEP-2339 a version is agreed when all participating servers agree, and the list
// of these servers is not part of this API. So a server takes part whether or not it
// reports. A server that does not report agrees to nothing, and no version is agreed
// while it is running. The entries that it wrote while the API was enabled are not
// true any more. The server has to remove them, and with them every agreement, before
// it stores the first object: otherwise a client could read a false agreement in
// between.

// withdrawAll removes the earlier entries of the server, and every agreement, until a
// list contains neither. After that no agreement can form: a server that forms one
// reads the participants after the object, and finds this server among them.
func (m *Manager) withdrawAll(ctx context.Context, client kubernetes.Interface) {
	if !m.decide.withdraws {
		return
	}
	m.until(ctx, inspecting, func() (done bool, err error) {
		names, err := m.spoken(ctx, client)
		if err != nil || len(names) == 0 {
			return err == nil, err
		}
		return false, m.reportAll(ctx, client, names, withdraw)
	})
}

// spoken are the objects in which the server has an entry, or which have an
// agreed version.
func (m *Manager) spoken(ctx context.Context, client kubernetes.Interface) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	list, err := client.InternalV1alpha1().StorageVersions().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing storage versions: %w", err)
	}
	var names []string
	for i := range list.Items {
		status := &list.Items[i].Status
		if len(ownEntries(status, m.config.ServerID)) > 0 || status.CommonEncodingVersion != nil {
			names = append(names, list.Items[i].Name)
		}
	}
	return names, nil
}

// mark notes in the identity Lease that everything is published. A silent server
// does not: the mark would say that it hosts nothing but what it has reported.
func (m *Manager) mark(ctx context.Context, member *membership) error {
	if m.config.Silent && !m.decide.marksSilent {
		return nil
	}
	return member.mark(ctx)
}

// settled says in words what has been done once the server may store objects.
func (m *Manager) settled() string {
	if m.config.Silent {
		return "Storage versions are switched off, and nothing is agreed"
	}
	return "All storage versions are published"
}

// why puts the reason right for which a silent server may not store objects.
func (m *Manager) why(err error) error {
	if m.config.Silent && errors.Is(err, errNotRegistered) {
		return errNotWithdrawn
	}
	return err
}

// mayPersistSilently is MayPersistAs of a silent server, which announces no
// version: any will do as soon as nothing is agreed.
func (m *Manager) mayPersistSilently() error {
	if err := m.standing(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnannounced, err)
	}
	return nil
}

// waitSilent is WaitAnnounced of a silent server.
func (m *Manager) waitSilent(ctx context.Context) error {
	for {
		err := m.mayPersistSilently()
		if err == nil {
			return nil
		}
		if !m.wait(ctx, ErrorRetry) {
			return err
		}
	}
}
