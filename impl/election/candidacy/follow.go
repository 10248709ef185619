package candidacy

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// followRetry is the least pause before a watch that has failed is opened again; the most is
// twice as long.
const followRetry = 500 * time.Millisecond

// follower follows one object through a watch.
//
// An informer of client-go waits longer each time that its API server has failed, up to a minute,
// and only two minutes without a failure make it begin short again. Behind a server that has
// crashed a few times a candidate would not see in time that it was pinged: it has to answer
// within election.AnswerWindow, and the one that was elected to renew within
// election.ElectedDuration (KEP-4355).
type follower struct {
	reflector *cache.Reflector
	// store has the object while it is there.
	store   cache.Store
	changed func(now any)

	once   sync.Once
	listed chan struct{}
}

// lister lists and watches objects of one type.
type lister[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// follow makes a follower of the object with a name, which is of the type of the example. It
// tells of the object whenever it may have changed, and of nil when it has gone.
func follow[L runtime.Object](client kubernetes.Interface, objects lister[L], name string, example runtime.Object, changed func(now any)) *follower {
	f := &follower{store: cache.NewStore(cache.MetaNamespaceKeyFunc), changed: changed, listed: make(chan struct{})}
	named := func(options metav1.ListOptions) metav1.ListOptions {
		options.FieldSelector = metav1.ObjectNameField + "=" + name
		return options
	}
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return objects.List(ctx, named(options))
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return objects.Watch(ctx, named(options))
		},
	}
	f.reflector = cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(source, client), example, f,
		cache.ReflectorOptions{Name: "following " + name, Backoff: &wait.Backoff{Duration: followRetry, Factor: 1, Jitter: 1}})
	return f
}

// run follows until the context ends.
func (f *follower) run(ctx context.Context) { f.reflector.RunWithContext(ctx) }

// hasListed is whether it is known if the object was there.
func (f *follower) hasListed() bool {
	select {
	case <-f.listed:
		return true
	default:
		return false
	}
}

// Add, Update, Delete, Replace and Resync are what the reflector calls.

func (f *follower) Add(obj any) error {
	if err := f.store.Add(obj); err != nil {
		return err
	}
	f.changed(obj)
	return nil
}

func (f *follower) Update(obj any) error { return f.Add(obj) }

func (f *follower) Delete(obj any) error {
	if err := f.store.Delete(obj); err != nil {
		return err
	}
	f.changed(nil)
	return nil
}

func (f *follower) Replace(objects []any, version string) error {
	before := len(f.store.ListKeys())
	if err := f.store.Replace(objects, version); err != nil {
		return err
	}
	for _, obj := range objects {
		f.changed(obj)
	}
	if len(objects) == 0 && before > 0 {
		f.changed(nil)
	}
	f.once.Do(func() { close(f.listed) })
	return nil
}

func (f *follower) Resync() error { return nil }
