package observe

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func ptr[T any](v T) *T { return &v }

// encodings of an object as Kubernetes stores it.
func encodings(t *testing.T, object interface{ Marshal() ([]byte, error) }, apiVersion, kind string) map[string][]byte {
	t.Helper()
	asJSON, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := object.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"JSON": asJSON, "protobuf": append(bytes.Clone(protobufMagic), envelope...)}
}

func TestDecodeStored(t *testing.T) {
	moment := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	storageVersion := &apiserverinternalv1alpha1.StorageVersion{
		TypeMeta:   metav1.TypeMeta{APIVersion: "internal.apiserver.k8s.io/v1alpha1", Kind: "StorageVersion"},
		ObjectMeta: metav1.ObjectMeta{Name: "core.pods"},
		Status: apiserverinternalv1alpha1.StorageVersionStatus{
			StorageVersions:       []apiserverinternalv1alpha1.ServerStorageVersion{{APIServerID: "a", EncodingVersion: "v1", DecodableVersions: []string{"v1"}, ServedVersions: []string{"v1"}}},
			CommonEncodingVersion: ptr("v1"),
			Conditions: []apiserverinternalv1alpha1.StorageVersionCondition{{
				Type: "AllEncodingVersionsEqual", Status: "True", LastTransitionTime: metav1.NewTime(moment), Reason: "R", Message: "M",
			}},
		},
	}
	lease := &coordinationv1.Lease{
		TypeMeta:   metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "l", Labels: map[string]string{identityLabel: "kube-apiserver"}},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr("h"), LeaseDurationSeconds: ptr(int32(9)), LeaseTransitions: ptr(int32(2)),
			AcquireTime: ptr(metav1.NewMicroTime(moment)), RenewTime: ptr(metav1.NewMicroTime(moment)),
		},
	}
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "s", Annotations: map[string]string{WriteAnnotation: "cp1/7"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", Operation: "Update", APIVersion: "v1"}}},
		Data: map[string][]byte{"password": []byte("swordfish")},
	}
	for name, value := range encodings(t, storageVersion, storageVersion.APIVersion, storageVersion.Kind) {
		got := decodeStored(value)
		want := &history.StorageVersion{
			Entries:    []history.Entry{{ServerID: "a", Encoding: "v1", Decodable: []string{"v1"}, Served: []string{"v1"}}},
			Common:     ptr("v1"),
			Conditions: []history.Condition{{Type: "AllEncodingVersionsEqual", Status: "True", Transition: moment, Reason: "R", Message: "M"}},
		}
		if got.apiVersion != storageVersion.APIVersion || got.name != "core.pods" || !reflect.DeepEqual(got.storageVersion, want) {
			t.Errorf("StorageVersion in %s: %+v", name, got.storageVersion)
		}
	}
	for name, value := range encodings(t, lease, lease.APIVersion, lease.Kind) {
		got := decodeStored(value)
		want := &history.Lease{Holder: "h", Duration: 9, Acquired: moment, Renewed: moment, Transitions: 2, Identity: true}
		if got.name != "kube-system/l" || !reflect.DeepEqual(got.lease, want) {
			t.Errorf("Lease in %s: %+v", name, got.lease)
		}
	}
	for name, value := range encodings(t, secret, "v1", "Secret") {
		got := decodeStored(value)
		if got.kind != "Secret" || got.name != "n/s" || got.tag != "cp1/7" || got.metadata == "" || got.managed["v1"] == "" {
			t.Errorf("Secret in %s: %+v", name, got)
		}
	}
	for name, value := range map[string]string{
		"number": "1000", "empty": "", "cut JSON": `{"kind":`, "encrypted": "k8s:enc:aescbc:v1:k:\x01\x02", "cut protobuf": "k8s\x00\x0a\xff",
	} {
		if got := decodeStored([]byte(value)); !reflect.DeepEqual(got, storedObject{}) {
			t.Errorf("%s was read as %+v", name, got)
		}
	}
}

func TestTag(t *testing.T) {
	if member, write, ok := ParseTag(Tag("cp1", 42)); member != "cp1" || write != 42 || !ok {
		t.Errorf("got %s %d %v", member, write, ok)
	}
	for _, tag := range []string{"", "cp1", "cp1/", "/1", "cp1/x", "cp1/0", "cp1/-1", "cp1/1/2"} {
		if _, _, ok := ParseTag(tag); ok {
			t.Errorf("%q was taken for a tag", tag)
		}
	}
}

func TestShortenKeepsTheTextValid(t *testing.T) {
	if got := shorten(strings.Repeat("é", maxMessage)); len(got) > maxMessage+len("…") || !strings.HasSuffix(got, "é…") {
		t.Errorf("shortened to %q", got)
	}
}
