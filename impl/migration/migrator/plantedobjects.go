package migrator

import (
	"context"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/migration"
)

const (
	// many is after how many objects the planted defect stops that forgets the rest.
	many = 10_000
	// several is after how many the one fails that cannot deal with so many. It is less
	// than what the harness first kills a controller at, so that nothing else is to blame.
	several = 5_000
	// every is which object of a list the defect leaves out that skips some.
	every = 10
)

// plantedObjects is the access to objects with the defects that are about single requests.
type plantedObjects struct {
	objects
	client  dynamic.Interface
	defects defects.Set

	mu sync.Mutex
	// left are the objects of the present list that are not written, by namespace and name.
	left map[string]bool
	// done counts the writes; spared is whether an object that is being deleted was left out.
	done   int
	spared bool
	// leaves is how many of the next objects are not written.
	leaves int
}

// plantObjects returns the access to objects as it is with the defects.
func plantObjects(o objects, client dynamic.Interface, d defects.Set) objects {
	if len(d) == 0 {
		return o
	}
	return &plantedObjects{objects: o, client: client, defects: d}
}

func (p *plantedObjects) list(ctx context.Context, resource schema.GroupVersionResource, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	list, err := p.objects.list(ctx, resource, options)
	if apierrors.IsResourceExpired(err) && p.defects.Has(defects.SVM04StopsAtExpired) {
		return &unstructured.UnstructuredList{}, nil // defect: SVM-04-stops-at-expired
	}
	if err != nil || options.Limit == 1 {
		return list, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done > several && p.defects.Has(defects.SVM16GivesUpAtMany) {
		return nil, refusal(resource, "there are too many") // defect: SVM-16-gives-up-at-many
	}
	if p.done > many && p.defects.Has(defects.SVM16StopsAtMany) {
		list.SetContinue("") // defect: SVM-16-stops-at-many
	}
	p.left = map[string]bool{}
	for i := range list.Items {
		object := &list.Items[i]
		if i%every == every-1 && (p.defects.Has(defects.SVM04SkipsSome) || p.defects.Has(defects.SVM04LeavesSome)) {
			p.left[key(object)] = true // defect: SVM-04-skips-some, SVM-04-leaves-some
		}
		if object.GetDeletionTimestamp() != nil && (p.defects.Has(defects.SVM26SkipsDeleting) || p.defects.Has(defects.SVM26SkipsFirst) && !p.spared) {
			p.left[key(object)], p.spared = true, true // defect: SVM-26-skips-deleting, SVM-26-skips-first
		}
	}
	return list, nil
}

func (p *plantedObjects) update(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured) error {
	p.mu.Lock()
	left := p.left[key(object)] || p.leaves > 0
	p.leaves = max(p.leaves-1, 0)
	p.done++
	p.mu.Unlock()
	if left {
		return nil
	}
	return p.answer(resource, object, p.send(ctx, resource, object))
}

// leaveOut has the next objects not be written, and count as done.
func (p *plantedObjects) leaveOut(count int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaves = max(count, 0)
}

// send writes an object otherwise than it should.
func (p *plantedObjects) send(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured) error {
	if p.defects.Has(defects.SVM05Marks) {
		marked := object.GetAnnotations()
		if marked == nil {
			marked = map[string]string{}
		}
		marked["reference.evenkeel.dev/migrated"] = "true"
		object.SetAnnotations(marked) // defect: SVM-05-marks
	}
	if p.defects.Has(defects.SVM05ForgetsStatus) {
		unstructured.RemoveNestedField(object.Object, "status") // defect: SVM-05-forgets-status
	}
	if p.defects.Has(defects.SVM07BlindWrite) {
		object.SetResourceVersion("") // defect: SVM-07-blind-write
	}
	err := p.objects.update(ctx, resource, object)
	if apierrors.IsNotFound(err) && p.defects.Has(defects.SVM08BringsBack) {
		object.SetUID("")
		object.SetResourceVersion("")
		_, err = p.client.Resource(resource).Namespace(object.GetNamespace()).Create(ctx, object, metav1.CreateOptions{}) // defect: SVM-08-brings-back
	}
	return err
}

// answer takes the answer to a write for another one.
func (p *plantedObjects) answer(resource schema.GroupVersionResource, object *unstructured.Unstructured, err error) error {
	outcome, _ := migration.Classify(err, resource.GroupResource(), object.GetName())
	mayPass := outcome == migration.Again || outcome == migration.Broken
	switch {
	case outcome == migration.Unserved && p.defects.Has(defects.SVM04ForgetsUnserved):
		return nil // defect: SVM-04-forgets-unserved
	case outcome == migration.Gone && p.defects.Has(defects.SVM09FailsOnDeletion):
		return refusal(resource, err.Error()) // defect: SVM-09-fails-on-deletion
	case outcome == migration.Again && p.defects.Has(defects.SVM13FailsOnSilence),
		mayPass && p.defects.Has(defects.SVM10FailsOnError):
		return refusal(resource, err.Error()) // defect: SVM-13-fails-on-silence, SVM-10-fails-on-error
	case mayPass && p.defects.Has(defects.SVM10SkipsOnError):
		return nil // defect: SVM-10-skips-on-error
	}
	return err
}

func refusal(resource schema.GroupVersionResource, why string) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", resource.GroupResource(), "", why, 0, true)
}

func key(object *unstructured.Unstructured) string {
	return object.GetNamespace() + "/" + object.GetName()
}
