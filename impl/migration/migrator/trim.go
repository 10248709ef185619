package migrator

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// trim writes the storedVersions of a definition, based on the revision that was read.
func (m *Migrator) trim(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, stored []string) error {
	next := crd.DeepCopy()
	next.Status.StoredVersions = stored
	_, err := m.clients.extensions.ApiextensionsV1().CustomResourceDefinitions().UpdateStatus(ctx, next, metav1.UpdateOptions{})
	return err
}

// leavesStoredVersions is whether a defect keeps a migration from trimming storedVersions
// before it succeeds.
func (w *worker) leavesStoredVersions(stored []string) bool {
	d := w.m.options.Defects
	if d.Has(defects.SVM27TrimsLate) {
		go w.trimLate(stored) // defect: SVM-27-trims-late
	}
	return d.Has(defects.SVM04LeavesSome) || d.Has(defects.SVM27NeverTrims) || d.Has(defects.SVM27TrimsLate) // defect: SVM-04-leaves-some, SVM-27-never-trims
}

// trimLate trims long after the success, when the worker's context has ended.
func (w *worker) trimLate(stored []string) {
	m, ctx := w.m, context.Background()
	if !m.sleep(ctx, m.options.Defects.Delay(defects.SVM27TrimsLate)) {
		return
	}
	m.persist(ctx, "trim storedVersions", func(ctx context.Context) error {
		crd, err := m.clients.crd(ctx, w.target.Resource)
		if err != nil || crd == nil {
			return err
		}
		return m.trim(ctx, crd, stored)
	})
}

// skipsDeleting is whether a defect leaves out the next object that is being deleted.
func (w *worker) skipsDeleting() bool {
	d := w.m.options.Defects
	first := !w.skipped
	w.skipped = true
	return d.Has(defects.SVM26SkipsDeleting) || first && d.Has(defects.SVM26SkipsFirst)
}
