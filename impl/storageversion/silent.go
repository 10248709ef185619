package storageversion

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// A silent server is one at which the storage version API is switched off.
//
// KEP-2339 has a version agreed when all participating servers agree, and has
// servers take part by a list that is not part of this API. So a server takes
// part whether or not it reports; one that does not report has agreed to nothing,
// and no version is agreed while it is there. What it had reported before it was
// switched off is not true any more and has to go, and with it every agreement,
// before it stores the first object: afterwards is too late for whoever has read
// an agreement in between.

// withdrawAll takes back what the server has reported before, and every agreement,
// until a look finds none of either. Then none can come back: whoever forms one
// reads the participants after the object, and finds the server there.
func (m *Manager) withdrawAll(ctx context.Context, client kubernetes.Interface) {
	if m.config.Defects.Has(defects.SV25StandsByItsWord) {
		return // defect: SV-25-stands-by-its-word
	}
	for failed := 1; ctx.Err() == nil; failed++ {
		names, err := m.spoken(ctx, client)
		if err == nil && len(names) == 0 {
			return
		}
		if err != nil {
			m.config.Logger.Error(err, "Cannot check what is published", "server", m.config.ServerID)
			m.wait(ctx, backoff(failed, ErrorRetry, ErrorRetryMax, m.random.float()))
			continue
		}
		m.reportAll(ctx, client, names, withdraw)
	}
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
	if m.config.Silent && !m.config.Defects.Has(defects.SV25PassesForRegistered) { // defect: SV-25-passes-for-registered
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
	if m.config.Silent && err == errNotRegistered {
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
