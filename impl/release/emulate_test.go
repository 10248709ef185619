package release

import (
	"slices"
	"testing"
)

// What a release stores while it emulates another one, that one must be able to read: that
// is what makes a rollback of the binaries possible (KEP-4330).
func TestWhatIsStoredWhileEmulatingTheEmulatedReleaseReads(t *testing.T) {
	for _, binary := range All() {
		for _, emulated := range All() {
			r, err := binary.Emulating(emulated.Name, "")
			if err != nil {
				continue
			}
			for _, resource := range r.Resources {
				older := emulated.find(resource.Group, resource.Resource)
				if !slices.Contains(older.Decodable, resource.Encoding) || !slices.Equal(resource.Served, older.Served) {
					t.Errorf("%s emulating %s stores %s in %s and serves %v", binary.Name, emulated.Name, resource.Resource, resource.Encoding, resource.Served)
				}
				if own := binary.find(resource.Group, resource.Resource); !slices.Equal(resource.Decodable, own.Decodable) {
					t.Errorf("%s emulating %s decodes %v of %s, and its binary %v", binary.Name, emulated.Name, resource.Decodable, resource.Resource, own.Decodable)
				}
			}
			if r.Name != binary.Name || r.Behaves() != emulated.Name || r.Coordination != emulated.Coordination {
				t.Errorf("%s emulating %s is %+v", binary.Name, emulated.Name, r)
			}
		}
	}
}

func TestEmulating(t *testing.T) {
	tests := []struct {
		name, binary, emulated, compatible string
		stored                             string
		failure                            string
	}{
		{name: "nothing", binary: "1.3", stored: V1},
		{name: "itself", binary: "1.3", emulated: "1.3", stored: V1},
		{name: "the release before", binary: "1.3", emulated: "1.2", stored: V1beta1},
		{name: "two before", binary: "1.3", emulated: "1.1", stored: V1alpha1},
		{name: "compatible with two before", binary: "1.3", compatible: "1.1", stored: V1beta1},
		{name: "compatible with three before", binary: "1.4", compatible: "1.1", stored: V1beta1},
		{name: "a newer one", binary: "1.2", emulated: "1.3", failure: "--emulated-version 1.3 is newer than the release 1.2, which can emulate only itself and older ones"},
		{name: "one that is not known", binary: "1.2", emulated: "1.0", failure: `--emulated-version: there is no release "1.0"; the releases are 1.1, 1.2, 1.3, 1.4`},
		{name: "one that serves what it forgot", binary: "1.4", emulated: "1.2", failure: "release 1.4 cannot emulate 1.2: it cannot read ballasts in v1alpha1, which 1.2 serves"},
		{name: "compatible with a newer one", binary: "1.3", emulated: "1.2", compatible: "1.3", failure: "--min-compatibility-version 1.3 is newer than 1.2, whose behavior the release has"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			binary, err := Lookup(test.binary)
			if err != nil {
				t.Fatal(err)
			}
			r, err := binary.Emulating(test.emulated, test.compatible)
			if test.failure != "" {
				if err == nil || err.Error() != test.failure {
					t.Errorf("error %v, want %q", err, test.failure)
				}
				return
			}
			if err != nil || r.Ballasts().Encoding != test.stored {
				t.Errorf("stores %q, error %v, want %q", r.Ballasts().Encoding, err, test.stored)
			}
		})
	}
}

// The table itself stays as it was.
func TestEmulatingChangesNoTable(t *testing.T) {
	before := All()
	r, err := before[2].Emulating("1.2", "1.1")
	if err != nil {
		t.Fatal(err)
	}
	r.Resources[0].Encoding = "changed"
	if got := All()[1].Ballasts().Encoding; got != V1beta1 {
		t.Errorf("release 1.2 stores %s", got)
	}
}
