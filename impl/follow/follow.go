// Package follow follows objects of an API server through a watch, and is soon up to date again
// however often that server has failed.
//
// An informer of client-go waits longer each time that its API server has failed, up to a minute,
// and only two minutes without a failure make it begin short again. What the KEPs ask for is
// shorter than that: a candidate answers a ping within election.AnswerWindow (KEP-4355), a server
// that has lost its identity Lease stops claiming agreement (KEP-2339), a worker stops when its
// migration is deleted.
package follow

import (
	"context"
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Retry is the least pause before a list or a watch that has failed is tried again; the most is
// twice as long.
const Retry = 500 * time.Millisecond

// Lister lists and watches objects of one type, as the typed clients of client-go do.
type Lister[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// Follower has the objects of one type as a watch shows them.
type Follower[T runtime.Object] struct {
	reflector *cache.Reflector
	objects   cache.Indexer
	changed   func(before, after T)

	once   sync.Once
	listed chan struct{}
}

// New makes a follower of the objects that a lister has; narrow leaves some of them out, or is
// nil. Of the client it is only asked whether it can begin a watch without a list. After Run has
// begun, changed is called for each object that may have changed: before is nil for one that is
// new, and after for one that has gone. It is called by one goroutine, when the follower has the
// object as it is after.
func New[T, L runtime.Object](client any, objects Lister[L], narrow func(*metav1.ListOptions), changed func(before, after T)) *Follower[T] {
	f := &Follower[T]{
		objects: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		changed: changed, listed: make(chan struct{}),
	}
	if narrow == nil {
		narrow = func(*metav1.ListOptions) {}
	}
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			narrow(&options)
			return objects.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			narrow(&options)
			return objects.Watch(ctx, options)
		},
	}
	example := reflect.New(reflect.TypeFor[T]().Elem()).Interface()
	f.reflector = cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(source, client), example, sink[T]{f},
		cache.ReflectorOptions{Backoff: &wait.Backoff{Duration: Retry, Factor: 1, Jitter: 1}})
	return f
}

// Named narrows to the one object with a name.
func Named(name string) func(*metav1.ListOptions) {
	return func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	}
}

// Labeled narrows to the objects that a selector of labels matches.
func Labeled(selector string) func(*metav1.ListOptions) {
	return func(o *metav1.ListOptions) { o.LabelSelector = selector }
}

// Run follows until the context ends.
func (f *Follower[T]) Run(ctx context.Context) { f.reflector.RunWithContext(ctx) }

// Listed is closed when all objects have been listed once.
func (f *Follower[T]) Listed() <-chan struct{} { return f.listed }

// HasListed is whether all objects have been listed once.
func (f *Follower[T]) HasListed() bool {
	select {
	case <-f.listed:
		return true
	default:
		return false
	}
}

// Objects are those that were seen last, by namespace and name.
func (f *Follower[T]) Objects() cache.Indexer { return f.objects }

// Get returns an object as it was seen last, or nil if it is not there; the namespace of one that
// has none is empty.
func (f *Follower[T]) Get(namespace, name string) T {
	// What is looked up by its key in a store of its own never fails.
	obj, _, _ := f.objects.GetByKey(cache.NewObjectName(namespace, name).String())
	seen, _ := obj.(T)
	return seen
}

// All returns the objects as they were seen last, in no order.
func (f *Follower[T]) All() []T {
	var all []T
	for _, obj := range f.objects.List() {
		if one, ok := obj.(T); ok {
			all = append(all, one)
		}
	}
	return all
}

// Version is the resourceVersion up to which all has been seen.
func (f *Follower[T]) Version() string { return f.reflector.LastSyncResourceVersion() }

// sink is what the reflector of a follower writes to.
type sink[T runtime.Object] struct{ of *Follower[T] }

// Add implements cache.ReflectorStore.
func (s sink[T]) Add(obj any) error {
	before, _, err := s.of.objects.Get(obj)
	if err == nil {
		err = s.of.objects.Add(obj)
	}
	if err != nil {
		return err
	}
	s.of.tell(before, obj)
	return nil
}

// Update implements cache.ReflectorStore.
func (s sink[T]) Update(obj any) error { return s.Add(obj) }

// Delete implements cache.ReflectorStore.
func (s sink[T]) Delete(obj any) error {
	if err := s.of.objects.Delete(obj); err != nil {
		return err
	}
	s.of.tell(obj, nil)
	return nil
}

// Replace implements cache.ReflectorStore. What was there before and is not any more went while
// nothing was followed.
func (s sink[T]) Replace(objects []any, version string) error {
	had := map[string]any{}
	for _, obj := range s.of.objects.List() {
		key, err := cache.MetaNamespaceKeyFunc(obj)
		if err != nil {
			return err
		}
		had[key] = obj
	}
	if err := s.of.objects.Replace(objects, version); err != nil {
		return err
	}
	for _, obj := range objects {
		key, err := cache.MetaNamespaceKeyFunc(obj)
		if err != nil {
			return err
		}
		s.of.tell(had[key], obj)
		delete(had, key)
	}
	for _, gone := range had {
		s.of.tell(gone, nil)
	}
	s.of.once.Do(func() { close(s.of.listed) })
	return nil
}

// Resync implements cache.ReflectorStore. Nothing is told twice for no reason.
func (s sink[T]) Resync() error { return nil }

func (f *Follower[T]) tell(before, after any) {
	was, _ := before.(T)
	is, _ := after.(T)
	f.changed(was, is)
}
