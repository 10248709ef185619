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
	// HostnameLabel tells which host a server runs on.
	HostnameLabel = "kubernetes.io/hostname"
	// PeerAddressAnnotation tells the other servers where they reach the one
	// whose Lease it is (KEP-4020), as host and port.
	PeerAddressAnnotation = "kubernetes.io/peer-advertise-address"
	// RegisteredAnnotation marks the Lease of a server whose storage versions
	// are all published. Its value is the holder identity of the process that
	// made the mark, a slash, and a digest of what it published.
	RegisteredAnnotation = "reference.evenkeel.dev/registered"
)

// Participants are the servers that take part, by ID. The value tells whether
// the server is fully registered, so that it hosts nothing but what it reported.
type Participants map[string]bool

// Has reports whether a server takes part.
func (p Participants) Has(id string) bool {
	_, takesPart := p[id]
	return takesPart
}

// Registered reports whether the process that holds the Lease has marked it as
// fully registered. A mark that another process left behind does not count:
// whoever takes a Lease over is unregistered by that very write.
func Registered(lease *coordinationv1.Lease) bool {
	holder, _, ok := strings.Cut(lease.Annotations[RegisteredAnnotation], "/")
	return ok && lease.Spec.HolderIdentity != nil && holder != "" && holder == *lease.Spec.HolderIdentity
}

// isIdentity reports whether a Lease found under a server's ID is that server's
// identity Lease. Somebody may have removed its label; the holder still tells,
// and a server is not taken for departed over a label.
func isIdentity(lease *coordinationv1.Lease) bool {
	if lease.Labels[IdentityLabel] == IdentityValue {
		return true
	}
	return lease.Spec.HolderIdentity != nil && strings.HasPrefix(*lease.Spec.HolderIdentity, lease.Name+"_")
}

// ParticipantsOf are the participants that a list of identity Leases tells of.
//
// A server takes part as long as its Lease exists, expired or not: Leases that
// expired are removed by the servers that are left (leasegc.go), and until then
// a paused server might come back.
func ParticipantsOf(leases []coordinationv1.Lease) Participants {
	participants := make(Participants, len(leases))
	for i := range leases {
		participants[leases[i].Name] = Registered(&leases[i])
	}
	return participants
}

// ReadParticipants reads the participants afresh: an unset resourceVersion makes
// the list consistent, so that it shows everybody who joined before the call.
// Call it after reading the object that has the given entries, see the package
// comment. Servers of the entries that are not in the list are looked up one by
// one; anything but a clear answer is an error, on which nobody may be stripped.
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
