package published

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	storagemigrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// Migrations reads and writes migrations. Each call goes to the version that
// answered last; where that is not served, to the other one. So a control plane may
// be upgraded from one to the other meanwhile, and its servers may differ.
type Migrations struct {
	client kubernetes.Interface
	older  atomic.Bool
}

// For gives access through a client.
func For(client kubernetes.Interface) *Migrations { return &Migrations{client: client} }

// Create creates a migration.
func (m *Migrations) Create(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, options metav1.CreateOptions) (*storagemigrationv1.StorageVersionMigration, error) {
	return either(m, func() (*storagemigrationv1.StorageVersionMigration, error) {
		return m.client.StoragemigrationV1().StorageVersionMigrations().Create(ctx, svm, options)
	}, func() (*storagemigrationv1.StorageVersionMigration, error) {
		return newer(m.client.StoragemigrationV1beta1().StorageVersionMigrations().Create(ctx, toOlder(svm), options))
	})
}

// Get reads one.
func (m *Migrations) Get(ctx context.Context, name string, options metav1.GetOptions) (*storagemigrationv1.StorageVersionMigration, error) {
	return either(m, func() (*storagemigrationv1.StorageVersionMigration, error) {
		return m.client.StoragemigrationV1().StorageVersionMigrations().Get(ctx, name, options)
	}, func() (*storagemigrationv1.StorageVersionMigration, error) {
		return newer(m.client.StoragemigrationV1beta1().StorageVersionMigrations().Get(ctx, name, options))
	})
}

// UpdateStatus writes the status of one.
func (m *Migrations) UpdateStatus(ctx context.Context, svm *storagemigrationv1.StorageVersionMigration, options metav1.UpdateOptions) (*storagemigrationv1.StorageVersionMigration, error) {
	return either(m, func() (*storagemigrationv1.StorageVersionMigration, error) {
		return m.client.StoragemigrationV1().StorageVersionMigrations().UpdateStatus(ctx, svm, options)
	}, func() (*storagemigrationv1.StorageVersionMigration, error) {
		return newer(m.client.StoragemigrationV1beta1().StorageVersionMigrations().UpdateStatus(ctx, toOlder(svm), options))
	})
}

// Delete deletes one, which aborts it.
func (m *Migrations) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	_, err := either(m, func() (struct{}, error) {
		return struct{}{}, m.client.StoragemigrationV1().StorageVersionMigrations().Delete(ctx, name, options)
	}, func() (struct{}, error) {
		return struct{}{}, m.client.StoragemigrationV1beta1().StorageVersionMigrations().Delete(ctx, name, options)
	})
	return err
}

// List reads all.
func (m *Migrations) List(ctx context.Context, options metav1.ListOptions) (*storagemigrationv1.StorageVersionMigrationList, error) {
	return either(m, func() (*storagemigrationv1.StorageVersionMigrationList, error) {
		return m.client.StoragemigrationV1().StorageVersionMigrations().List(ctx, options)
	}, func() (*storagemigrationv1.StorageVersionMigrationList, error) {
		list, err := m.client.StoragemigrationV1beta1().StorageVersionMigrations().List(ctx, options)
		if err != nil {
			return nil, err
		}
		out := &storagemigrationv1.StorageVersionMigrationList{ListMeta: list.ListMeta}
		for i := range list.Items {
			out.Items = append(out.Items, *toNewer(&list.Items[i]))
		}
		return out, nil
	})
}

// Watch follows all.
func (m *Migrations) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return either(m, func() (watch.Interface, error) {
		return m.client.StoragemigrationV1().StorageVersionMigrations().Watch(ctx, options)
	}, func() (watch.Interface, error) {
		events, err := m.client.StoragemigrationV1beta1().StorageVersionMigrations().Watch(ctx, options)
		if err != nil {
			return nil, err
		}
		return watch.Filter(events, func(event watch.Event) (watch.Event, bool) {
			if svm, ok := event.Object.(*storagemigrationv1beta1.StorageVersionMigration); ok {
				event.Object = toNewer(svm)
			}
			return event, true
		}), nil
	})
}

// either sends a request in the version that the API server served last, and in the
// other one if that version is not served.
func either[T any](m *Migrations, v1, v1beta1 func() (T, error)) (T, error) {
	older := m.older.Load()
	first, second := v1, v1beta1
	if older {
		first, second = v1beta1, v1
	}
	answer, err := first()
	if !unserved(err) {
		return answer, err
	}
	answer, err = second()
	if unserved(err) {
		// The caller must not read this as the absence of migrations.
		return answer, fmt.Errorf("the API server serves %s neither as v1 nor as v1beta1", storagemigrationv1.GroupName)
	}
	m.older.Store(!older)
	return answer, err
}

// unserved reports whether an answer came from a server that does not know the
// version, and not from one that has no such object, which it would name. Some answer in
// plain text, which the client makes a cause of; kube-apiserver v1.35 and v1.36 answer
// with a Status that says nothing more.
func unserved(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) || details == nil || details.Kind == "" && details.Name == ""
}

func newer(svm *storagemigrationv1beta1.StorageVersionMigration, err error) (*storagemigrationv1.StorageVersionMigration, error) {
	if err != nil {
		return nil, err
	}
	return toNewer(svm), nil
}

func toNewer(svm *storagemigrationv1beta1.StorageVersionMigration) *storagemigrationv1.StorageVersionMigration {
	return &storagemigrationv1.StorageVersionMigration{
		ObjectMeta: svm.ObjectMeta,
		Spec:       storagemigrationv1.StorageVersionMigrationSpec(svm.Spec),
		Status:     storagemigrationv1.StorageVersionMigrationStatus(svm.Status),
	}
}

func toOlder(svm *storagemigrationv1.StorageVersionMigration) *storagemigrationv1beta1.StorageVersionMigration {
	return &storagemigrationv1beta1.StorageVersionMigration{
		ObjectMeta: svm.ObjectMeta,
		Spec:       storagemigrationv1beta1.StorageVersionMigrationSpec(svm.Spec),
		Status:     storagemigrationv1beta1.StorageVersionMigrationStatus(svm.Status),
	}
}
