package release

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/impl/defects"
)

// Every release must be able to read what it writes and what it serves:
// KEP-2339 requires it of each entry of a StorageVersion.
func TestEveryReleaseReadsWhatItWritesAndServes(t *testing.T) {
	for _, r := range All() {
		for _, resource := range r.Resources {
			if !slices.Contains(resource.Decodable, resource.Encoding) {
				t.Errorf("%s: %s stores %s without being able to decode it", r.Name, resource.Resource, resource.Encoding)
			}
			for _, version := range resource.Served {
				if !slices.Contains(resource.Decodable, version) {
					t.Errorf("%s: %s serves %s without being able to decode it", r.Name, resource.Resource, version)
				}
			}
		}
	}
}

func TestRollback(t *testing.T) {
	tests := []struct {
		newer, older string
		readable     bool
	}{
		{"1.2", "1.1", true},
		{"1.3", "1.2", true},
		{"1.4", "1.3", true},
		{"1.3", "1.1", false},
		{"1.4", "1.1", false},
	}
	for _, test := range tests {
		newer, err := Lookup(test.newer)
		if err != nil {
			t.Fatal(err)
		}
		older, err := Lookup(test.older)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(older.Ballasts().Decodable, newer.Ballasts().Encoding); got != test.readable {
			t.Errorf("%s reads what %s wrote: got %v, want %v", test.older, test.newer, got, test.readable)
		}
	}
}

func TestWith_ForgetsV1(t *testing.T) {
	for _, r := range All() {
		planted := r.With(defects.Of(defects.RO01ForgetsV1))
		if forgets := r.Name == "1.2"; slices.Contains(r.Ballasts().Decodable, V1) != (slices.Contains(planted.Ballasts().Decodable, V1) || forgets) ||
			slices.Contains(planted.Ballasts().Served, V1) && forgets {
			t.Errorf("%s serves and decodes %+v, with the defect %+v", r.Name, r.Ballasts(), planted.Ballasts())
		}
		planted.Resources = r.Resources
		if !reflect.DeepEqual(planted, r) {
			t.Errorf("the defect changes %+v to %+v", r, planted)
		}
		if without := r.With(nil); !reflect.DeepEqual(without, r) {
			t.Errorf("without the defect %+v became %+v", r, without)
		}
	}
}

func TestEncodingChanges(t *testing.T) {
	for _, pair := range [][2]string{{"1.1", "1.2"}, {"1.2", "1.3"}} {
		before, _ := Lookup(pair[0])
		after, _ := Lookup(pair[1])
		if before.Ballasts().Encoding == after.Ballasts().Encoding {
			t.Errorf("%s and %s store the same version", pair[0], pair[1])
		}
	}
}

func TestLookup(t *testing.T) {
	r, err := Lookup("1.2")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.GitVersion(); got != "v1.2.0" {
		t.Errorf("GitVersion: got %q, want v1.2.0", got)
	}
	if r.Major() != "1" || r.Minor() != "2" {
		t.Errorf("major and minor: got %q and %q, want 1 and 2", r.Major(), r.Minor())
	}
	_, err = Lookup("2.0")
	if err == nil {
		t.Fatal("a release that does not exist was found")
	}
	for _, name := range Names() {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error %q does not name release %s", err, name)
		}
	}
}
