package apiserver

import (
	"io"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/generic"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/release"
)

// olderWrites is how many objects SV-15-first-write-older encodes wrongly.
const olderWrites = 3

// olderFirstCodec is the planted defect by which the first objects are stored
// in a version that was not announced.
type olderFirstCodec struct {
	runtime.Codec
	older runtime.Codec
	// left is how many objects are stored so yet.
	left *atomic.Int64
}

// Encode writes the object in the announced version, or in the older one.
func (c olderFirstCodec) Encode(obj runtime.Object, w io.Writer) error {
	if c.left.Load() > 0 && c.left.Add(-1) >= 0 {
		return c.older.Encode(obj, w) // defect: SV-15-first-write-older
	}
	return c.Codec.Encode(obj, w)
}

// olderFirstGetter plants the defect in the resource that has versions.
type olderFirstGetter struct {
	generic.RESTOptionsGetter
	older    runtime.Codec
	resource schema.GroupResource
	left     *atomic.Int64
}

// GetRESTOptions returns the options of a resource.
func (g olderFirstGetter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil || resource != g.resource {
		return options, err
	}
	options.StorageConfig.Codec = olderFirstCodec{Codec: options.StorageConfig.Codec, older: g.older, left: g.left}
	return options, nil
}

// plantOlderFirst returns the getter as it is, unless the defect is switched on.
func plantOlderFirst(getter generic.RESTOptionsGetter, codecs serializer.CodecFactory, r release.Release, d defects.Set) generic.RESTOptionsGetter {
	if !d.Has(defects.SV15FirstWriteOlder) {
		return getter
	}
	ballasts, left := r.Ballasts(), &atomic.Int64{}
	left.Store(olderWrites)
	return olderFirstGetter{
		RESTOptionsGetter: getter,
		older:             codecs.LegacyCodec(schema.GroupVersion{Group: ballasts.Group, Version: unannounced(ballasts)}),
		resource:          schema.GroupResource{Group: ballasts.Group, Resource: ballasts.Resource},
		left:              left,
	}
}

// youngOlderCodec is the planted defect by which objects are stored in a version
// that was not announced while they are young.
type youngOlderCodec struct {
	runtime.Codec
	older runtime.Codec
}

// youth is how long it does so.
const youth = 2 * time.Second

// Encode writes the object in the announced version, or in the older one.
func (c youngOlderCodec) Encode(obj runtime.Object, w io.Writer) error {
	if object, err := meta.Accessor(obj); err == nil && time.Since(object.GetCreationTimestamp().Time) < youth {
		return c.older.Encode(obj, w) // defect: SVM-22-older-at-first
	}
	return c.Codec.Encode(obj, w)
}

// restlessCodec is the planted defect by which the same object has other bytes
// every other time.
type restlessCodec struct {
	runtime.Codec
	turn *atomic.Int64
}

// Encode writes the object, and every other time something that means nothing.
func (c restlessCodec) Encode(obj runtime.Object, w io.Writer) error {
	if err := c.Codec.Encode(obj, w); err != nil || c.turn.Add(1)%2 == 0 {
		return err
	}
	_, err := w.Write([]byte("\n")) // defect: SVM-06-restless
	return err
}

// codecGetter plants a defect in how a resource is encoded.
type codecGetter struct {
	generic.RESTOptionsGetter
	resource schema.GroupResource
	plant    func(runtime.Codec) runtime.Codec
}

// GetRESTOptions returns the options of a resource.
func (g codecGetter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err == nil && resource == g.resource {
		options.StorageConfig.Codec = g.plant(options.StorageConfig.Codec)
	}
	return options, err
}

// plantInCodec returns the getter as it is, unless a defect of how objects are
// encoded is switched on.
func plantInCodec(getter generic.RESTOptionsGetter, codecs serializer.CodecFactory, r release.Release, d defects.Set) generic.RESTOptionsGetter {
	ballasts := r.Ballasts()
	resource := schema.GroupResource{Group: ballasts.Group, Resource: ballasts.Resource}
	if d.Has(defects.SVM22OlderAtFirst) {
		older := codecs.LegacyCodec(schema.GroupVersion{Group: ballasts.Group, Version: unannounced(ballasts)})
		getter = codecGetter{getter, resource, func(codec runtime.Codec) runtime.Codec { return youngOlderCodec{codec, older} }}
	}
	if d.Has(defects.SVM06Restless) {
		getter = codecGetter{getter, resource, func(codec runtime.Codec) runtime.Codec { return restlessCodec{codec, &atomic.Int64{}} }}
	}
	return plantOlderFirst(plantOwnAtTimes(getter, codecs, r, d), codecs, r, d)
}

// unannounced is the version before the one that a resource is stored in, or
// the one after where there is none before.
func unannounced(resource release.Resource) string {
	at := slices.Index(resource.Decodable, resource.Encoding)
	if at > 0 {
		return resource.Decodable[at-1]
	}
	return resource.Decodable[at+1]
}

// forgetfulCodec is the planted defect by which nothing but the metadata is stored in
// one version.
type forgetfulCodec struct{ runtime.Codec }

// forgottenIn is that version.
const forgottenIn = "v1"

// Encode writes the object, without its spec if that is the version.
func (c forgetfulCodec) Encode(obj runtime.Object, w io.Writer) error {
	if object, ok := obj.(*unstructured.Unstructured); ok && object.GroupVersionKind().Version == forgottenIn {
		object = object.DeepCopy()
		unstructured.RemoveNestedField(object.Object, "spec") // defect: SVM-05-forgets
		obj = object
	}
	return c.Codec.Encode(obj, w)
}
