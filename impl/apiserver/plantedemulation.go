package apiserver

import (
	"io"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/generic"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/release"
)

// ownOneIn is which ballasts EV-01 stores in the version of the binary.
const ownOneIn = 20

// ownBallasts is how the binary of a release treats ballasts where it emulates nothing; ok is
// false for a release that emulates no other one.
func ownBallasts(r release.Release) (own release.Resource, ok bool) {
	binary, err := release.Lookup(r.Name)
	return binary.Ballasts(), err == nil && r.Behaves() != r.Name
}

// plantEmulation has a release that emulates another one behave, in part, like its binary, and one
// that is compatible with an older one forget that.
func plantEmulation(r release.Release, d defects.Set) release.Release {
	forgets := d.Has(defects.EV01ForgetsOlder) || d.Has(defects.EV07ForgetsOlder)
	if behaves, err := release.Lookup(r.Behaves()); err == nil && r.Compatible != "" && forgets {
		return r.Changed(release.Group, release.Ballasts, func(ballasts *release.Resource) {
			ballasts.Encoding = behaves.Ballasts().Encoding // defect: EV-01-forgets-older, EV-07-forgets-older
		})
	}
	own, ok := ownBallasts(r)
	if !ok {
		return r
	}
	if d.Has(defects.EV06SaysAsBinary) {
		binary, _ := release.Lookup(r.Name) // it was found for own
		r = r.Changed(release.MigrationGroup, release.Migrations, func(migrations *release.Resource) {
			migrations.Encoding = binary.Migrations().Encoding // defect: EV-06-says-as-its-binary
		})
	}
	return r.Changed(own.Group, own.Resource, func(ballasts *release.Resource) {
		if d.Has(defects.EV02HidesRemoved) {
			ballasts.Served = own.Served // defect: EV-02-hides-removed
		}
		if d.Has(defects.EV02HostsNewer) {
			ballasts.Served = union(own.Served, ballasts.Served) // defect: EV-02-hosts-newer
		}
		if d.Has(defects.EV06StoresAsBinary) {
			ballasts.Encoding = own.Encoding // defect: EV-06-stores-as-its-binary
		}
	})
}

// union are the versions of two lists, each once.
func union(a, b []string) []string {
	return slices.Concat(a, slices.DeleteFunc(slices.Clone(b), func(v string) bool { return slices.Contains(a, v) }))
}

// ownAtTimesCodec is the planted defect by which some objects are stored in a version that the
// emulated release need not be able to read.
type ownAtTimesCodec struct {
	runtime.Codec
	own  runtime.Codec
	turn *atomic.Int64
}

// Encode writes the object in the version of the emulated release, or in that of the binary.
func (c ownAtTimesCodec) Encode(obj runtime.Object, w io.Writer) error {
	if c.turn.Add(1)%ownOneIn == 0 {
		return c.own.Encode(obj, w) // defect: EV-01-stores-own-at-times
	}
	return c.Codec.Encode(obj, w)
}

// plantOwnAtTimes returns the getter as it is, unless the defect is switched on and the release
// emulates another one.
func plantOwnAtTimes(getter generic.RESTOptionsGetter, codecs serializer.CodecFactory, r release.Release, d defects.Set) generic.RESTOptionsGetter {
	ballasts, ok := ownBallasts(r)
	if !ok || !d.Has(defects.EV01StoresOwnAtTimes) {
		return getter
	}
	own := codecs.LegacyCodec(schema.GroupVersion{Group: ballasts.Group, Version: ballasts.Encoding})
	resource := schema.GroupResource{Group: ballasts.Group, Resource: ballasts.Resource}
	return codecGetter{getter, resource, func(codec runtime.Codec) runtime.Codec { return ownAtTimesCodec{codec, own, &atomic.Int64{}} }}
}
