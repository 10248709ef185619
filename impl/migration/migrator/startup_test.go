package migrator

import (
	"context"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// names are those of all migrations.
func (w *world) names() (names []string) {
	list, err := w.client.StoragemigrationV1().StorageVersionMigrations().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

func TestStartCreatesMigrationsOfBuiltInResources(t *testing.T) {
	inWorld(t, 15, func(t *testing.T, w *world) {
		w.addGadgets(20)
		if err := w.client.Tracker().Add(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "role", UID: "role-1"}}); err != nil {
			t.Fatal(err)
		}
		stop := w.start(Options{Startup: true, Owner: "role"})
		if got := w.ended("test.dev.gadgets.1"); got.Reason != migration.ReasonSucceeded {
			t.Errorf("ended with %+v", got)
		}
		time.Sleep(time.Minute)
		svm := w.get("test.dev.gadgets.1")
		if len(svm.OwnerReferences) != 1 || svm.OwnerReferences[0].UID != "role-1" || svm.Annotations[migration.ReasonAnnotation] != reasonStarted {
			t.Errorf("the migration is %+v", svm.ObjectMeta)
		}
		stop()
		// The next leader adopts what exists.
		stop = w.start(Options{Startup: true, Owner: "role"})
		time.Sleep(time.Minute)
		stop()
		if got := w.names(); len(got) != 1 {
			t.Errorf("after a restart there are %q", got)
		}
		// Another installation begins anew.
		if err := w.client.Tracker().Update(rbacv1.SchemeGroupVersion.WithResource("clusterroles"), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "role", UID: "role-2"}}, ""); err != nil {
			t.Fatal(err)
		}
		defer w.start(Options{Startup: true, Owner: "role"})()
		if got := w.ended("test.dev.gadgets.2"); got.Reason != migration.ReasonSucceeded || w.attempts() > 0 {
			t.Errorf("ended with %+v, and %d custom resources were written", got, w.attempts())
		}
	})
}
