package storageversion

import (
	"context"
	"fmt"
	"strings"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

const (
	// LeaseNamespace holds the identity Leases.
	LeaseNamespace = metav1.NamespaceSystem
	// IdentityLabel marks the Lease by which a server takes part.
	IdentityLabel = "apiserver.kubernetes.io/identity"
	// IdentityValue is the value of IdentityLabel on Leases of API servers.
	IdentityValue = "kube-apiserver"
	// IdentitySelector selects the identity Leases.
	IdentitySelector = IdentityLabel + "=" + IdentityValue
	// HostnameLabel is the label with the host on which a server runs.
	HostnameLabel = "kubernetes.io/hostname"
	// PeerAddressAnnotation is the address at which peers reach the server of the
	// Lease (KEP-4020), as host and port.
	PeerAddressAnnotation = "kubernetes.io/peer-advertise-address"
	// RegisteredAnnotation marks the Lease of a server whose storage versions
	// are all published. Its value is the holder identity of the process that
	// made the mark, a slash, and a digest of what it published.
	RegisteredAnnotation = "reference.evenkeel.dev/registered"
)

// Participants are the servers that take part, by ID. The value is whether the server
// is fully registered, so that it hosts only the resources that it reported.
type Participants map[string]bool

// Has reports whether a server takes part.
func (p Participants) Has(id string) bool {
	_, takesPart := p[id]
	return takesPart
}

// Registered reports whether the process that holds the Lease has marked it as
// fully registered. The mark of another process does not count: a process that takes
// a Lease over is unregistered from that write on.
func Registered(lease *coordinationv1.Lease) bool {
	holder, _, ok := strings.Cut(lease.Annotations[RegisteredAnnotation], "/")
	return ok && lease.Spec.HolderIdentity != nil && holder != "" && holder == *lease.Spec.HolderIdentity
}

// isIdentity reports whether a Lease with a server's ID as name is that server's
// identity Lease. A client may have removed its label; the holder identity still
// identifies the server, so a missing label does not make it count as departed.
func isIdentity(lease *coordinationv1.Lease) bool {
	if lease.Labels[IdentityLabel] == IdentityValue {
		return true
	}
	return lease.Spec.HolderIdentity != nil && strings.HasPrefix(*lease.Spec.HolderIdentity, lease.Name+"_")
}

// ParticipantsOf returns the participants in a list of identity Leases.
//
// A server takes part as long as its Lease exists, expired or not: the remaining
// servers remove expired Leases (leasegc.go), and until then a paused server might
// continue.
func ParticipantsOf(leases []coordinationv1.Lease) Participants {
	participants := make(Participants, len(leases))
	for i := range leases {
		participants[leases[i].Name] = Registered(&leases[i])
	}
	return participants
}

// ReadParticipants lists the participants: an unset resourceVersion makes the list
// consistent, so that it contains every server that joined before the call. Call it
// after reading the object that has the given entries, see the package comment. It
// gets the Leases of servers that have entries and are not in the list one by one. If
// a request fails, it returns an error, and the caller must not remove any entry.
func ReadParticipants(ctx context.Context, client coordinationv1client.LeaseInterface, entries []apiserverinternalv1alpha1.ServerStorageVersion) (Participants, error) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: IdentitySelector})
	if err != nil {
		return nil, fmt.Errorf("listing participants: %w", err)
	}
	if list.Continue != "" {
		return nil, fmt.Errorf("listing participants: the list is incomplete")
	}
	participants := ParticipantsOf(list.Items)
	absent := map[string]bool{}
	for i := range entries {
		id := entries[i].APIServerID
		if participants.Has(id) || absent[id] {
			continue
		}
		lease, err := client.Get(ctx, id, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			absent[id] = true
		case err != nil:
			return nil, fmt.Errorf("looking for participant %s: %w", id, err)
		case isIdentity(lease):
			participants[id] = Registered(lease)
		default:
			absent[id] = true
		}
	}
	return participants, nil
}
