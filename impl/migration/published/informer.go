package published

import (
	"context"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// NewInformer follows migrations, whichever version they are served in; name is the
// only one that it follows, or empty.
func NewInformer(m *Migrations, name string) cache.SharedIndexInformer {
	narrow := func(options *metav1.ListOptions) {
		if name != "" {
			options.FieldSelector = metav1.ObjectNameField + "=" + name
		}
	}
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			narrow(&options)
			return m.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			narrow(&options)
			return m.Watch(ctx, options)
		},
	}
	return cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(source, m.client), &storagemigrationv1.StorageVersionMigration{}, 0,
		cache.Indexers{})
}
