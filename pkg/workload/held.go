package workload

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/observe"
)

// heldFinalizer keeps a deleted object until the harness removes the finalizer.
const heldFinalizer = "evenkeel.dev/held"

// Held makes objects of one workload that are deleted and held by a finalizer, through one
// member (SVM-26): etcd has them with a deletionTimestamp until they are released. Its
// methods are for one goroutine at a time.
type Held struct {
	source  *Source
	deleted []bool
}

// NewHeld makes so many objects named <run>-<member>-<role><n>.
func NewHeld(w *Workload, count int, run, member, role string, tagger *Tagger, clk clock.PassiveClock) *Held {
	source := NewSource(w.Holding(count), run, member, role, tagger, clk)
	source.finalizers = []string{heldFinalizer}
	return &Held{source: source, deleted: make([]bool, count)}
}

// Len is how many objects there are to be.
func (h *Held) Len() int { return len(h.deleted) }

// Reset is Source.Reset.
func (h *Held) Reset() { h.source.Reset() }

// Ensure sends the requests that an object needs until it exists, is deleted, and only the
// finalizer of the harness holds it; held is whether all that is so. Controllers remove
// their own finalizers after a while by writes of the whole object. A migration that began
// before could not be told from these writes.
func (h *Held) Ensure(ctx context.Context, client *observe.Client, index int) (held bool) {
	if !h.source.Ensure(ctx, client, index) {
		return false
	}
	call, ok := h.call(ctx, client, index)
	if !ok {
		return false
	}
	if !h.deleted[index] {
		call.Verb = "delete"
		h.deleted[index] = client.Do(ctx, call).OK()
		return false
	}
	var now metav1.PartialObjectMetadata
	path := observe.GroupVersionPath(call.Group, call.Version)
	if call.Namespace != "" {
		path += "/namespaces/" + call.Namespace
	}
	found := client.Get(ctx, path+"/"+call.Resource+"/"+call.Name)
	return found.OK() && json.Unmarshal(found.Body, &now) == nil && now.DeletionTimestamp != nil && slices.Equal(now.Finalizers, []string{heldFinalizer})
}

// Release removes the finalizers of an object, so that the API server deletes it; gone is
// whether it has.
func (h *Held) Release(ctx context.Context, client *observe.Client, index int) (gone bool) {
	if !h.deleted[index] {
		return true // it is an object like any other
	}
	call, ok := h.call(ctx, client, index)
	if !ok {
		return false
	}
	// The write has no tag, since it never shows in etcd: the API server deletes the object
	// in its place.
	call.Verb, call.Body = "patch", map[string]any{"metadata": map[string]any{"finalizers": nil}}
	answer := client.Do(ctx, call)
	h.deleted[index] = !answer.OK() && answer.Code != http.StatusNotFound
	return !h.deleted[index]
}

// call is about an object, in a version that the member serves.
func (h *Held) call(ctx context.Context, client *observe.Client, index int) (observe.Call, bool) {
	version, _, ok := h.source.next(ctx, client)
	return h.source.call(index, version), ok
}
