package discovery

import "testing"

func TestPathsOfResourcesAreNotThoseOfGroupVersions(t *testing.T) {
	for path, want := range map[string]string{
		"/apis/x.io/v1": "x.io/v1", "/api/v1": "v1", "/apis/x.io/v1/ships": "", "/apis/x.io": "", "/apis": "", "/api/v1/pods": "", "/metrics": "",
	} {
		group, version, ok := versionOfPath(path)
		if ok != (want != "") || ok && named(group, version) != want {
			t.Errorf("%s: %s %s %v", path, group, version, ok)
		}
	}
	for path, want := range map[string]string{
		"/apis/x.io/v1/ships": "x.io/v1 ships", "/apis/x.io/v1": "", "/apis/x.io/v1/ships/one": "", "/api/v1/pods": "", "/apis/x.io//ships": "",
	} {
		name, resource, ok := resourceOfPath(path)
		if ok != (want != "") || ok && name+" "+resource != want {
			t.Errorf("%s: %s %s %v", path, name, resource, ok)
		}
	}
}
