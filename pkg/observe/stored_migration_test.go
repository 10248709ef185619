package observe

import (
	"reflect"
	"testing"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestDecodeMigration(t *testing.T) {
	moment := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	stored := &storagemigrationv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{Name: "m"},
		Spec:       storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: "g.io", Resource: "things"}},
		Status: storagemigrationv1.StorageVersionMigrationStatus{ResourceVersion: "7", Conditions: []metav1.Condition{
			{Type: "Running", Status: "True", Reason: "R", Message: "M", LastTransitionTime: metav1.NewTime(moment)},
		}},
	}
	want := &history.Migration{Group: "g.io", Resource: "things", Checkpoint: "7", Conditions: []history.Condition{
		{Type: "Running", Status: "True", Reason: "R", Message: "M", Transition: moment},
	}}
	for _, version := range []string{"v1", "v1beta1"} {
		stored.APIVersion, stored.Kind = "storagemigration.k8s.io/"+version, "StorageVersionMigration"
		for name, value := range encodings(t, stored, stored.APIVersion, stored.Kind) {
			if got := decodeStored(value).migration; !reflect.DeepEqual(got, want) {
				t.Errorf("%s in %s: %+v", version, name, got)
			}
		}
	}
	stored.APIVersion = "storagemigration.k8s.io/v1alpha1"
	for name, value := range encodings(t, stored, stored.APIVersion, stored.Kind) {
		if got := decodeStored(value).migration; got != nil {
			t.Errorf("v1alpha1 in %s, which has other fields, was read as %+v", name, got)
		}
	}
}

func TestDecodeDefinition(t *testing.T) {
	stored := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "things.g.io", Generation: 3},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "g.io", Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1"}, {Name: "v2", Storage: true}},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{StoredVersions: []string{"v1", "v2"}},
	}
	want := &history.CustomResource{Group: "g.io", Resource: "things", Storage: "v2", Stored: []string{"v1", "v2"}, Generation: 3}
	for name, value := range encodings(t, stored, stored.APIVersion, stored.Kind) {
		if got := decodeStored(value).customResource; !reflect.DeepEqual(got, want) {
			t.Errorf("in %s: %+v", name, got)
		}
	}
}

// A digest has to tell apart what a migration must leave alone, and nothing else.
func TestDigestOfMetadata(t *testing.T) {
	read := func(change func(*apiextensionsv1.CustomResourceDefinition)) storedObject {
		object := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: "x", UID: "u", ResourceVersion: "1", Generation: 1, Annotations: map[string]string{WriteAnnotation: "cp1/7"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", APIVersion: "v1"}},
		}}
		object.APIVersion, object.Kind = "g.io/v1", "Thing"
		change(object)
		return decodeStored(encodings(t, object, object.APIVersion, object.Kind)["protobuf"])
	}
	before := read(func(*apiextensionsv1.CustomResourceDefinition) {})
	same := read(func(o *apiextensionsv1.CustomResourceDefinition) { o.ResourceVersion = "2" })
	if before.metadata == "" || before.metadata != same.metadata || !reflect.DeepEqual(before.managed, same.managed) {
		t.Errorf("the resourceVersion makes a difference: %+v and %+v", before, same)
	}
	for what, change := range map[string]func(*apiextensionsv1.CustomResourceDefinition){
		"label":      func(o *apiextensionsv1.CustomResourceDefinition) { o.Labels = map[string]string{"a": "b"} },
		"uid":        func(o *apiextensionsv1.CustomResourceDefinition) { o.UID = "v" },
		"generation": func(o *apiextensionsv1.CustomResourceDefinition) { o.Generation++ },
		"finalizer":  func(o *apiextensionsv1.CustomResourceDefinition) { o.Finalizers = []string{"f"} },
		"owner": func(o *apiextensionsv1.CustomResourceDefinition) {
			o.OwnerReferences = []metav1.OwnerReference{{Name: "o"}}
		},
	} {
		if read(change).metadata == before.metadata {
			t.Errorf("another %s makes no difference", what)
		}
	}
	managed := read(func(o *apiextensionsv1.CustomResourceDefinition) { o.ManagedFields[0].Manager = "n" })
	if managed.metadata != before.metadata || managed.managed["v1"] == before.managed["v1"] {
		t.Error("managed fields are to be told apart from the rest")
	}
}
