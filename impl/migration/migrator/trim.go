package migrator

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// trim writes the storedVersions of a definition, based on the revision that was read.
func (m *Migrator) trim(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, stored []string) error {
	next := crd.DeepCopy()
	next.Status.StoredVersions = stored
	_, err := m.clients.extensions.ApiextensionsV1().CustomResourceDefinitions().UpdateStatus(ctx, next, metav1.UpdateOptions{})
	return err
}
