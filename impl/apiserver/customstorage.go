package apiserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// announcementPatience is how long a write of a custom resource waits for the
// announcement of its storage version before the client is told to come back.
// An announcement takes milliseconds; it takes longer only while etcd is slow,
// the server joins, older writes of the resource have not ended, or the resource
// is being established, which takes the library five seconds.
const announcementPatience = 10 * time.Second

// customGetter makes the storage of a custom resource store nothing that this
// server has not announced.
//
// KEP-2339: the extension server updates the storage version before it enables
// the handler of the custom resource. The library decides which handlers exist and
// in which version each of them stores, and replaces a handler after it has observed
// a change of the definition. So this package compares the encoded bytes of each
// handler with the announcement.
type customGetter struct {
	generic.RESTOptionsGetter
	doors   *customDoors
	manager func() announcer
}

// announcer is the part of storageversion.Manager that is asked here.
type announcer interface {
	MayPersistAs(group, resource, version string) error
	WaitAnnounced(ctx context.Context, group, resource, version string) error
}

// GetRESTOptions returns the options of a custom resource. The library wraps
// the codec, so that objects arrive at it in the version that is stored.
func (g customGetter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	config := *options.StorageConfig
	// A storage tries its codec out while it is opened; nothing is stored then, and
	// a resource that is not announced yet must be readable.
	opened := &atomic.Bool{}
	config.Codec = announcedCodec{Codec: config.Codec, resource: resource, manager: g.manager, opened: opened}
	options.StorageConfig = &config
	decorate := options.Decorator
	options.Decorator = func(config *storagebackend.ConfigForResource, prefix string, keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object, attrs storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
		inner, destroy, err := decorate(config, prefix, keyFunc, newFunc, newListFunc, attrs, trigger, indexers)
		if err != nil {
			return nil, nil, err
		}
		opened.Store(true)
		return customStorage{Interface: inner, resource: resource, doors: g.doors, manager: g.manager}, destroy, nil
	}
	return options, nil
}

// unannouncedError refuses bytes in a version that is not announced. To a client it
// is 503 with a time to come back.
type unannouncedError struct {
	version string
	reason  error
}

func (e *unannouncedError) Error() string {
	return "cannot store a custom resource yet: " + e.reason.Error()
}

// Unwrap makes it storageversion.ErrUnannounced.
func (e *unannouncedError) Unwrap() error { return e.reason }

// Status implements apierrors.APIStatus.
func (e *unannouncedError) Status() metav1.Status {
	return metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable,
		Message: e.Error(), Details: &metav1.StatusDetails{RetryAfterSeconds: storageversion.RetryAfterSeconds},
	}
}

// announcedCodec encodes only in the version that is announced.
type announcedCodec struct {
	runtime.Codec
	resource schema.GroupResource
	manager  func() announcer
	// opened: the storage is there, so that what is encoded may be stored.
	opened *atomic.Bool
}

// Encode writes the object as it is, in the version that it names.
func (c announcedCodec) Encode(obj runtime.Object, w io.Writer) error {
	if !c.opened.Load() {
		return c.Codec.Encode(obj, w)
	}
	version, _ := meta.NewAccessor().APIVersion(obj)
	if err := c.manager().MayPersistAs(c.resource.Group, c.resource.Resource, version); err != nil {
		return &unannouncedError{version: version, reason: err}
	}
	return c.Codec.Encode(obj, w)
}

// customStorage takes every write through the door of its resource, and has a
// write wait whose version is about to be announced.
type customStorage struct {
	storage.Interface
	resource schema.GroupResource
	doors    *customDoors
	manager  func() announcer
}

// Create stores a new object.
func (s customStorage) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	return s.announced(ctx, func() error { return s.Interface.Create(ctx, key, obj, out, ttl) })
}

// GuaranteedUpdate stores a change.
func (s customStorage) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, cached runtime.Object) error {
	return s.announced(ctx, func() error {
		return s.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, tryUpdate, cached)
	})
}

// announced does a write once its version is announced. A write that was refused
// for its version stored nothing, so it can be done again.
func (s customStorage) announced(ctx context.Context, write func() error) error {
	patience, cancel := context.WithTimeout(ctx, announcementPatience)
	defer cancel()
	for {
		leave, err := s.doors.enter(patience, s.resource)
		if err != nil {
			return &unannouncedError{reason: storageversion.ErrUnannounced}
		}
		err = write()
		leave()
		var refused *unannouncedError
		if !errors.As(err, &refused) || s.manager().WaitAnnounced(patience, s.resource.Group, s.resource.Resource, refused.version) != nil {
			return err
		}
		if patience.Err() != nil {
			return err
		}
	}
}
