package history

import "testing"

func TestHosted(t *testing.T) {
	for _, test := range []struct{ key, apiVersion, group, resource string }{
		{"/registry/configmaps/default/a", "v1", "", "configmaps"},
		{"/registry/volumeattributesclasses/a", "storage.k8s.io/v1", "storage.k8s.io", "volumeattributesclasses"},
		{"/registry/stores.io/crates/default/a", "stores.io/v1", "stores.io", "crates"},
		{"/registry/stores.io/crates/default/a", "", "", ""},
		{"/elsewhere/configmaps/a", "v1", "", ""},
		{"/registry/", "v1", "", ""},
	} {
		s := Stored{Key: test.key, APIVersion: test.apiVersion}
		group, resource, ok := s.Hosted()
		if group != test.group && ok || resource != test.resource || ok != (test.resource != "") {
			t.Errorf("%s of %q: %q %q %v", test.key, test.apiVersion, group, resource, ok)
		}
	}
}
