package install

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/migration/published"
)

// RivalController is what Kubernetes calls its own migrator.
const RivalController = "storage-version-migrator-controller"

// UserAgent distinguishes the migrator's own clients from another migrator: the API
// server records the part before the slash as field manager of every write.
const UserAgent = "refplane-migrate"

// tried is the resource of the trial migration that shows whether another migrator acts.
// There are few RuntimeClasses, and rewriting them unchanged does no harm.
var tried = metav1.GroupResource{Group: "node.k8s.io", Resource: "runtimeclasses"}

// served are the versions without which there is nothing to install, and how one
// gets them.
var served = []struct {
	versions []string
	remedy   string
}{
	{[]string{"apps/v1"}, "it does not run workloads, and its controller manager migrates by itself if it is the reference's"},
	{[]string{"batch/v1"}, "it does not run workloads, and its controller manager migrates by itself if it is the reference's"},
	{[]string{"internal.apiserver.k8s.io/v1alpha1"}, "start API servers with --feature-gates=StorageVersionAPI=true and --runtime-config=internal.apiserver.k8s.io/v1alpha1=true; without it the migrator cannot determine when a migration may begin"},
	{[]string{"storagemigration.k8s.io/v1", "storagemigration.k8s.io/v1beta1"}, "start API servers before v1.37 with --feature-gates=StorageVersionMigrator=true and --runtime-config=storagemigration.k8s.io/v1beta1=true"},
}

// CheckServed says what a control plane lacks, if anything.
func CheckServed(client kubernetes.Interface) error {
	for _, need := range served {
		found := false
		for _, version := range need.versions {
			_, err := client.Discovery().ServerResourcesForGroupVersion(version)
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("check whether the API server serves %s: %w", version, err)
			}
			found = found || err == nil
		}
		if !found {
			return fmt.Errorf("the control plane does not serve %s: %s", strings.Join(need.versions, " or "), need.remedy)
		}
	}
	return nil
}

// CheckRival checks whether another migrator carries out migrations, above all
// kube-controller-manager: both would write the outcome of the same objects, and
// kube-controller-manager does not check whether the API servers agree. A migration has no
// field that names its migrator, and clients cannot read a controller's flags. So CheckRival
// creates a trial migration. The check passes if no other migrator writes its status while
// the leader of kube-controller-manager renews its Lease.
func CheckRival(ctx context.Context, client kubernetes.Interface, clock clock.Clock) (err error) {
	before, err := renewal(ctx, client)
	if err != nil {
		return err
	}
	migrations := published.For(client)
	svm, err := migrations.Create(ctx, &storagemigrationv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "migrator-check-", Labels: map[string]string{ManagedLabel: Manager}},
		Spec:       storagemigrationv1.StorageVersionMigrationSpec{Resource: tried},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create a trial migration: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CleanUp)
		defer cancel()
		if gone := migrations.Delete(ctx, svm.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &svm.UID}}); gone != nil && !apierrors.IsNotFound(gone) {
			err = errors.Join(err, fmt.Errorf("delete the trial migration %s: %w", svm.Name, gone))
		}
	}()
	for end := clock.Now().Add(RivalWait); clock.Now().Before(end); {
		if err := pause(ctx, clock, rivalLook); err != nil {
			return err
		}
		now, err := migrations.Get(ctx, svm.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return errors.New("the trial migration, which shows whether another migrator acts, was deleted by another client; try again")
		}
		if err != nil {
			return fmt.Errorf("read the trial migration: %w", err)
		}
		if who := touched(now); who != "" {
			return fmt.Errorf("%s carries out migrations already, and would compete for every one of them: start kube-controller-manager with --controllers=*,-%s on all members", who, RivalController)
		}
	}
	after, err := renewal(ctx, client)
	if err != nil {
		return err
	}
	if before.Equal(after) {
		return fmt.Errorf("the leader of kube-controller-manager has not renewed its Lease for %s, so Jobs do not run, and whether it migrates by itself cannot be told; try again when a leader renews the Lease", RivalWait)
	}
	return nil
}

// touched returns the field manager that has written the status of a migration, other
// than the migrator that this package installs; empty if there is none.
func touched(svm *storagemigrationv1.StorageVersionMigration) string {
	if len(svm.Status.Conditions) == 0 && svm.Status.ResourceVersion == "" {
		return ""
	}
	ours := false
	for i := range svm.ManagedFields {
		entry := &svm.ManagedFields[i]
		if entry.Subresource != "status" {
			continue
		}
		if entry.Manager != UserAgent {
			return entry.Manager
		}
		ours = true
	}
	if ours {
		return ""
	}
	return "an unknown client"
}

// renewal is when the leader of the controllers last renewed its Lease.
func renewal(ctx context.Context, client kubernetes.Interface) (*metav1.MicroTime, error) {
	lease, err := client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, "kube-controller-manager", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, errors.New("there is no Lease kube-system/kube-controller-manager, so no controllers run Jobs, and whether they migrate by themselves cannot be told; start kube-controller-manager with --leader-elect=true")
	}
	if err != nil {
		return nil, fmt.Errorf("read the Lease of kube-controller-manager: %w", err)
	}
	return lease.Spec.RenewTime, nil
}

func pause(ctx context.Context, clock clock.Clock, d time.Duration) error {
	timer := clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
