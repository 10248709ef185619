package scheme

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/impl/apis/reference"
	"github.com/evenkeel/evenkeel/impl/release"
)

// ballast draws any Ballast that is valid.
func ballast() *rapid.Generator[*reference.Ballast] {
	return rapid.Custom(func(t *rapid.T) *reference.Ballast {
		return &reference.Ballast{
			ObjectMeta: metav1.ObjectMeta{
				Name:   rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"),
				Labels: rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), rapid.StringMatching(`[a-z]{0,3}`), 1, 3).Draw(t, "labels"),
			},
			Spec: reference.BallastSpec{
				Kilograms: rapid.OneOf(
					rapid.Int64Min(0),
					// Whole tonnes are written in another unit.
					rapid.Map(rapid.Int64Range(0, 1<<40), func(n int64) int64 { return n * 1000 }),
				).Draw(t, "kilograms"),
				Position: rapid.SampledFrom([]string{"", "fore", "midships", "aft"}).Draw(t, "position"),
			},
		}
	})
}

// Every version that a release can decode must carry everything that a Ballast
// holds, or else storing it in that version would lose something.
func TestStoringInAnyVersionLosesNothing(t *testing.T) {
	for _, r := range release.All() {
		scheme := New(r)
		codecs := serializer.NewCodecFactory(scheme)
		for _, version := range r.Ballasts().Decodable {
			codec := codecs.LegacyCodec(schema.GroupVersion{Group: release.Group, Version: version})
			t.Run(r.Name+"/"+version, rapid.MakeCheck(func(t *rapid.T) {
				want := ballast().Draw(t, "ballast")
				bytes, err := runtime.Encode(codec, want.DeepCopy())
				if err != nil {
					t.Fatal(err)
				}
				got, err := runtime.Decode(codec, bytes)
				if err != nil {
					t.Fatalf("%v\n%s", err, bytes)
				}
				if !equality.Semantic.DeepEqual(got, want) {
					t.Fatalf("got %+v, want %+v, stored as %s", got, want, bytes)
				}
			}))
		}
	}
}

func TestListsConvertToo(t *testing.T) {
	r, err := release.Lookup("1.2")
	if err != nil {
		t.Fatal(err)
	}
	scheme := New(r)
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.SampledFrom(r.Ballasts().Decodable).Draw(t, "version")
		want := &reference.BallastList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
		for _, item := range rapid.SliceOfN(ballast(), 1, 3).Draw(t, "items") {
			want.Items = append(want.Items, *item)
		}
		converted, err := scheme.ConvertToVersion(want, schema.GroupVersion{Group: release.Group, Version: version})
		if err != nil {
			t.Fatal(err)
		}
		got, err := scheme.ConvertToVersion(converted, reference.SchemeGroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		if !equality.Semantic.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// What a release cannot decode it must really not be able to read: a harness
// that rolls a member back too far is to see it fail.
func TestUndecodableVersionsAreUnreadable(t *testing.T) {
	for _, writer := range release.All() {
		encoding := schema.GroupVersion{Group: release.Group, Version: writer.Ballasts().Encoding}
		codec := serializer.NewCodecFactory(New(writer)).LegacyCodec(encoding)
		bytes, err := runtime.Encode(codec, &reference.Ballast{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, reader := range release.All() {
			_, err := runtime.Decode(serializer.NewCodecFactory(New(reader)).UniversalDecoder(reference.SchemeGroupVersion), bytes)
			want := slices.Contains(reader.Ballasts().Decodable, writer.Ballasts().Encoding)
			if got := err == nil; got != want {
				t.Errorf("release %s reads what %s stored: got %v (%v), want %v", reader.Name, writer.Name, got, err, want)
			}
		}
	}
}

func TestDecodedObjectsGetDefaults(t *testing.T) {
	decoder := serializer.NewCodecFactory(New(release.All()[0])).UniversalDecoder(corev1.SchemeGroupVersion)
	tests := map[string]string{
		`{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":443}]}}`: "ClusterIP",
		`{"apiVersion":"v1","kind":"Secret"}`:                                  "Opaque",
	}
	for body, want := range tests {
		obj, _, err := decoder.Decode([]byte(body), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		unstructured, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			t.Fatal(err)
		}
		got := unstructured["type"]
		if spec, ok := unstructured["spec"].(map[string]any); ok {
			got = spec["type"]
		}
		if got != want {
			t.Errorf("%s: type is %v, want %s", body, got, want)
		}
	}
}

// Both served versions of a storage migration carry everything that it holds.
func TestMigrationsConvertBothWays(t *testing.T) {
	codecs := serializer.NewCodecFactory(New(release.All()[0]))
	want := &storagemigrationv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Generation: 1},
		Spec:       storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: "g", Resource: "r"}},
		Status: storagemigrationv1.StorageVersionMigrationStatus{ResourceVersion: "7", Conditions: []metav1.Condition{
			{Type: "Running", Status: metav1.ConditionTrue, Reason: "R", Message: "m", ObservedGeneration: 1, LastTransitionTime: metav1.Unix(5, 0)},
		}},
	}
	for _, version := range []string{"v1", "v1beta1"} {
		codec := codecs.LegacyCodec(schema.GroupVersion{Group: storagemigrationv1.GroupName, Version: version})
		for _, obj := range []runtime.Object{want, &storagemigrationv1.StorageVersionMigrationList{Items: []storagemigrationv1.StorageVersionMigration{*want}}} {
			bytes, err := runtime.Encode(codec, obj.DeepCopyObject())
			if err != nil {
				t.Fatal(err)
			}
			got, err := runtime.Decode(codec, bytes)
			if err != nil {
				t.Fatalf("%v\n%s", err, bytes)
			}
			if !equality.Semantic.DeepEqual(got, obj) {
				t.Errorf("%s: got %+v, want %+v", version, got, obj)
			}
		}
	}
}
