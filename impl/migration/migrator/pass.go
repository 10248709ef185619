package migrator

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/evenkeel/evenkeel/impl/migration"
)

// pass lists and writes chunk after chunk to the end. It has a verdict if the
// objects cannot be listed.
func (w *worker) pass(ctx context.Context) (verdict, error) {
	for !w.checkpoint.Listed {
		if sv := w.view.versions.Get("", w.name); sv != nil && w.m.decide.standing(w.basis(), sv) != migration.Holds {
			return verdict{}, nil // Going on would be in vain.
		}
		list, v, err := w.list(ctx)
		if err != nil || v != (verdict{}) {
			return v, err
		}
		if list == nil {
			continue // The checkpoint has changed.
		}
		chunk, err := w.write(ctx, list)
		if err != nil {
			return verdict{}, err
		}
		w.change(func(c migration.Checkpoint) migration.Checkpoint { return c.After(chunk) })
		if err := w.record(ctx); err != nil {
			return verdict{}, err
		}
	}
	return verdict{}, nil
}

// list reads the next chunk. It is nil if the checkpoint had to be changed
// instead.
func (w *worker) list(ctx context.Context) (*unstructured.UnstructuredList, verdict, error) {
	list, v, err := w.request(ctx, metav1.ListOptions{Limit: w.m.options.ChunkSize, Continue: w.checkpoint.Continue})
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		return list, v, err
	}
	var status apierrors.APIStatus
	inconsistent := ""
	if errors.As(err, &status) {
		inconsistent = status.Status().ListMeta.Continue
	}
	w.m.options.Logger.Info("The list has expired, going on from a later state", "migration", w.svm.Name, "fromTheStart", inconsistent == "")
	w.change(func(c migration.Checkpoint) migration.Checkpoint { return c.Expired(inconsistent) })
	return nil, verdict{}, nil
}

// request lists objects, and tries again for as long as a migration is patient. It has a
// verdict if the objects cannot be listed, and an error if the worker has to end or if a
// continue token has expired.
func (w *worker) request(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, verdict, error) {
	for failed := 1; ; failed++ {
		request, cancel := context.WithTimeout(ctx, RequestTimeout)
		list, err := w.m.clients.objects.list(request, w.target.GVR(), options)
		cancel()
		switch outcome, asked := migration.Classify(err, w.target.Resource, ""); {
		case err == nil:
			w.passed(aboutList)
			return list, verdict{}, nil
		case ctx.Err() != nil:
			return nil, verdict{}, context.Cause(ctx)
		case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			return nil, verdict{}, err
		case outcome == migration.Unserved:
			// The resource is not served any more. The loop finds out for how long.
			return nil, verdict{}, fmt.Errorf("%w: %w", errUndecided, err)
		case outcome == migration.Refused, w.failed(ctx, aboutList, outcome, err):
			return nil, w.unreadable(err), nil
		default:
			w.m.options.Logger.Error(err, "Cannot list objects, trying again", "migration", w.svm.Name)
			if !w.m.sleep(ctx, migration.Retry(failed, asked)) {
				return nil, verdict{}, context.Cause(ctx)
			}
		}
	}
}

// write sends the objects of a chunk back, each as it was listed.
func (w *worker) write(ctx context.Context, list *unstructured.UnstructuredList) (migration.Chunk, error) {
	chunk := migration.Chunk{Continue: list.GetContinue(), Remaining: list.GetRemainingItemCount()}
	var mu sync.Mutex
	work := make(chan *unstructured.Unstructured)
	writing, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	for range writers(w.m.options.Rate) {
		group.Go(func() {
			for object := range work {
				outcome, why := w.rewrite(writing, object)
				switch outcome {
				case migration.Again:
					continue // The context has ended.
				case migration.Unserved:
					stop(fmt.Errorf("%w: %s", errUndecided, why))
					continue
				default: // it is done with this object
				}
				objectsDone.WithLabelValues(w.target.Resource.Group, w.target.Resource.Resource, string(outcome)).Inc()
				mu.Lock()
				chunk.Done = chunk.Done.Add(outcome)
				if outcome == migration.Refused && chunk.Refusal == "" {
					chunk.Refusal = why
				}
				mu.Unlock()
			}
		})
	}
	for i := range list.Items {
		select {
		case work <- &list.Items[i]:
		case <-writing.Done():
		}
		mu.Lock()
		done := chunk.Done
		mu.Unlock()
		if err := w.report(writing, done); err != nil {
			stop(err)
		}
	}
	close(work)
	group.Wait()
	return chunk, context.Cause(writing)
}

// rewrite sends one object back until there is an outcome, or the context ends. Its
// precondition is the uid and the resourceVersion of the list, so it neither undoes
// another write nor creates a deleted object again.
func (w *worker) rewrite(ctx context.Context, object *unstructured.Unstructured) (migration.Outcome, string) {
	name := object.GetName()
	if object.GetNamespace() != "" {
		name = object.GetNamespace() + "/" + name
	}
	for failed := 1; ; failed++ {
		request, cancel := context.WithTimeout(ctx, RequestTimeout)
		err := w.m.clients.objects.update(request, w.target.GVR(), object)
		cancel()
		if ctx.Err() != nil {
			return migration.Again, ""
		}
		outcome, asked := migration.Classify(err, w.target.Resource, object.GetName())
		if outcome == migration.Again || outcome == migration.Broken {
			if w.failed(ctx, name, outcome, err) {
				outcome = migration.Refused
			} else if w.m.sleep(ctx, migration.Retry(failed, asked)) {
				continue
			} else {
				return migration.Again, ""
			}
		}
		w.passed(name)
		if outcome == migration.Refused {
			w.change(func(c migration.Checkpoint) migration.Checkpoint { c.Trouble.Refused = true; return c })
		}
		if outcome == migration.Refused || outcome == migration.Unserved {
			return outcome, fmt.Sprintf("%s: %v", name, err)
		}
		return outcome, ""
	}
}
