package observe

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDigestOfJSONIsOfTheContent(t *testing.T) {
	of := func(value string) string {
		t.Helper()
		digest := digestOfJSON([]byte(value))
		if digest == "" {
			t.Fatalf("%s has no digest", value)
		}
		return digest
	}
	one := of(`{"apiVersion":"g.io/v1","kind":"Thing","metadata":{"name":"x"},"spec":{"a":1,"b":"2"},"status":{"seen":true}}`)
	if other := of(`{"kind":"Thing","apiVersion":"g.io/v2","metadata":{"name":"y"},"status":{"seen":true},"spec":{"b":"2","a":1}}`); other != one {
		t.Error("version, metadata or the order of fields made another digest")
	}
	for _, value := range []string{`{"spec":{"a":1}}`, `{"spec":{"a":1,"b":"3"}}`, `{"spec":{"a":1,"b":"2"},"data":{}}`, `{"spec":{"a":1,"b":"2"}}`, `{"spec":{"a":1,"b":"2"},"status":{"seen":false}}`, `{}`} {
		if of(value) == one {
			t.Errorf("%s has the digest of something else", value)
		}
	}
	if digestOfJSON([]byte(`[]`)) != "" {
		t.Error("what is no object has a digest")
	}
}

func TestDigestOfProtobufIsOfTheContent(t *testing.T) {
	of := func(name, driver string, parameters map[string]string) string {
		t.Helper()
		raw, err := (&storagev1.VolumeAttributesClass{ObjectMeta: metav1.ObjectMeta{Name: name}, DriverName: driver, Parameters: parameters}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return digestOfProtobuf(raw)
	}
	cargo := map[string]string{"cargo": "ballast", "deck": "2"}
	one := of("x", "d", cargo)
	beta, err := (&storagev1beta1.VolumeAttributesClass{ObjectMeta: metav1.ObjectMeta{Name: "y", Labels: cargo}, DriverName: "d", Parameters: cargo}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if one == "" || digestOfProtobuf(beta) != one {
		t.Errorf("digests %q and %q: the version or metadata made another one", one, digestOfProtobuf(beta))
	}
	if of("x", "e", cargo) == one || of("x", "d", nil) == one || of("x", "d", map[string]string{"cargo": "rope", "deck": "2"}) == one {
		t.Error("another driver or other parameters have the same digest")
	}
	if digestOfProtobuf([]byte{0xff}) != "" {
		t.Error("what is no protobuf has a digest")
	}
}
