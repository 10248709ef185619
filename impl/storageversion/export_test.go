package storageversion

import (
	"context"

	"k8s.io/client-go/kubernetes"
)

// RunWith is Run with a client at hand.
func (m *Manager) RunWith(ctx context.Context, client kubernetes.Interface) error {
	return m.run(ctx, client)
}

// UserAgent is what the manager's own client calls itself.
func (m *Manager) UserAgent() string { return m.userAgent() }

// Holder is the holder of the manager's identity Lease.
func (m *Manager) Holder() string { return m.holder }
