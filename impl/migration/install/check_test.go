package install

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
)

func TestCheckServed(t *testing.T) {
	all := []string{"apps/v1", "batch/v1", "internal.apiserver.k8s.io/v1alpha1", "storagemigration.k8s.io/v1beta1"}
	for missing, says := range map[string]string{
		"":                                   "",
		"apps/v1":                            "does not run workloads",
		"batch/v1":                           "does not run workloads",
		"internal.apiserver.k8s.io/v1alpha1": "StorageVersionAPI=true",
		"storagemigration.k8s.io/v1beta1":    "StorageVersionMigrator=true",
	} {
		client := fake.NewClientset()
		for _, version := range all {
			if version != missing {
				client.Discovery().(*fakediscovery.FakeDiscovery).Resources = append(client.Discovery().(*fakediscovery.FakeDiscovery).Resources, &metav1.APIResourceList{GroupVersion: version})
			}
		}
		if err := CheckServed(client); (err == nil) != (missing == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("without %q: %v", missing, err)
		}
	}
}

func TestCheckRival(t *testing.T) {
	status := func(manager string) func(*storagemigrationv1.StorageVersionMigration) {
		return func(svm *storagemigrationv1.StorageVersionMigration) {
			svm.Status.ResourceVersion = "7"
			svm.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "unknown", Operation: metav1.ManagedFieldsOperationUpdate}}
			if manager != "" {
				svm.ManagedFields = append(svm.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, Subresource: "status"})
			}
		}
	}
	untouched := func(*storagemigrationv1.StorageVersionMigration) {}
	for _, test := range []struct {
		name string
		// lease is whether there is one, renewed whether it is renewed.
		lease, renewed bool
		becomes        func(*storagemigrationv1.StorageVersionMigration)
		says           string
	}{
		{"no other migrator acts", true, true, untouched, ""},
		{"installed before", true, true, status(UserAgent), ""},
		{"Kubernetes migrates", true, true, status("kube-controller-manager"), "kube-controller-manager carries out migrations already"},
		{"an unknown client migrates", true, true, status(""), "an unknown client carries out migrations already"},
		{"no leader renews the Lease", true, false, untouched, "cannot be told"},
		{"there is no leader Lease", false, false, untouched, "--leader-elect=true"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { checkRival(t, test.lease, test.renewed, test.becomes, test.says) })
		})
	}
}

func checkRival(t *testing.T, exists, renewed bool, becomes func(*storagemigrationv1.StorageVersionMigration), says string) {
	client := fake.NewClientset()
	deleted := 0
	client.PrependReactor("create", "storageversionmigrations", func(action clienttesting.Action) (bool, runtime.Object, error) {
		svm := action.(clienttesting.CreateAction).GetObject().(*storagemigrationv1.StorageVersionMigration)
		svm.Name, svm.UID = svm.GenerateName+"1", "trial"
		return true, svm, nil
	})
	client.PrependReactor("get", "storageversionmigrations", func(clienttesting.Action) (bool, runtime.Object, error) {
		svm := &storagemigrationv1.StorageVersionMigration{ObjectMeta: metav1.ObjectMeta{Name: "migrator-check-1", UID: "trial"}}
		becomes(svm)
		return true, svm, nil
	})
	client.PrependReactor("delete", "storageversionmigrations", func(clienttesting.Action) (bool, runtime.Object, error) {
		deleted++
		return true, nil, nil
	})
	client.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		if !exists {
			return false, nil, nil
		}
		at := metav1.NewMicroTime(time.Unix(0, 0))
		if renewed {
			at = metav1.NowMicro()
		}
		return true, &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: &at}}, nil
	})
	err := CheckRival(context.Background(), client, clock.RealClock{})
	if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
		t.Errorf("got %v", err)
	}
	if exists != (deleted == 1) {
		t.Errorf("the trial was deleted %d times", deleted)
	}
}
