package storageversion

import (
	"context"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	internalclient "k8s.io/client-go/kubernetes/typed/apiserverinternal/v1alpha1"
)

// decisions are where a Manager decides, each by a function of this package, and the moments at
// which it goes on. A planted defect replaces one of them, see planted.go.
type decisions struct {
	// reports are what a server publishes about a resource.
	reports func(serverID string, r Resource) []report
	// sees is what a report is merged into, and who takes part.
	sees func(old *apiserverinternalv1alpha1.StorageVersionStatus, own []apiserverinternalv1alpha1.ServerStorageVersion, participants Participants, why occasion) (*apiserverinternalv1alpha1.StorageVersionStatus, Participants)
	// merge is the status that a report makes of that.
	merge func(old *apiserverinternalv1alpha1.StorageVersionStatus, serverID string, own []apiserverinternalv1alpha1.ServerStorageVersion, participants Participants, now time.Time) apiserverinternalv1alpha1.StorageVersionStatus
	// update writes an object on condition that it has not changed since it was read.
	update func(ctx context.Context, svs internalclient.StorageVersionInterface, sv *apiserverinternalv1alpha1.StorageVersion) error
	// overtaken comes after an attempt that met another writer.
	overtaken func(ctx context.Context, client kubernetes.Interface, name string)
	// checks reports whether a server checks what it has published.
	checks bool

	// joins comes before a server joins; registers before it reports, reported after it has
	// reported all, maintains before maintenance, and verified after a round of verification.
	joins, registers, reported, verified func(ctx context.Context, client kubernetes.Interface)
	maintains                            func(ctx context.Context)
	// verifyEvery is the time between two rounds.
	verifyEvery time.Duration

	// passes reports whether a request passes the barrier while it is shut; opens is why the
	// barrier of a server that may store objects is shut all the same; refuses changes a refusal.
	passes  func(a attributes, serverID string) bool
	opens   func(s standing, now time.Time) error
	refuses func(*apierrors.StatusError)
	// ready and persists are why the server is not ready, and may not store an object.
	ready, persists func(reason error) error

	// expired reports whether an identity Lease is to be removed.
	expired func(lease *coordinationv1.Lease, now time.Time) bool

	// withdraws reports whether a silent server takes its earlier reports back, and marksSilent
	// whether it marks its Lease as registered.
	withdraws, marksSilent bool
}

// sound are the decisions of a Manager without a defect.
func sound() decisions {
	moment := func(context.Context, kubernetes.Interface) {}
	reason := func(reason error) error { return reason }
	return decisions{
		reports: reportsOf,
		sees: func(old *apiserverinternalv1alpha1.StorageVersionStatus, _ []apiserverinternalv1alpha1.ServerStorageVersion, participants Participants, _ occasion) (*apiserverinternalv1alpha1.StorageVersionStatus, Participants) {
			return old, participants
		},
		merge: merge,
		update: func(ctx context.Context, svs internalclient.StorageVersionInterface, sv *apiserverinternalv1alpha1.StorageVersion) error {
			_, err := svs.UpdateStatus(ctx, sv, metav1.UpdateOptions{})
			return err
		},
		overtaken: func(context.Context, kubernetes.Interface, string) {},
		checks:    true,
		joins:     moment, registers: moment, reported: moment, verified: moment,
		maintains:   func(context.Context) {},
		verifyEvery: VerificationInterval,
		passes:      passes,
		opens:       func(standing, time.Time) error { return nil },
		refuses:     func(*apierrors.StatusError) {},
		ready:       reason, persists: reason,
		expired:   longExpired,
		withdraws: true,
	}
}
