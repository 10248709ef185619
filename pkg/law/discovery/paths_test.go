package discovery

import "testing"

func TestLocated_TellsGroupVersionsAndResourcesFromOtherPaths(t *testing.T) {
	for path, want := range map[string]string{
		"/apis/x.io/v1": "x.io/v1 ", "/api/v1": "v1 ", "/api": "", "/apis/x.io": "", "/apis": "", "/metrics": "", "/apis//v1": "",
		"/apis/x.io/v1/ships": "x.io/v1 ships", "/api/v1/pods": "v1 pods", "/apis/x.io/v1/ships/one": "", "/apis/x.io//ships": "",
	} {
		of, resource, ok := located(path)
		if ok != (want != "") || ok && of.String()+" "+resource != want {
			t.Errorf("%s: %s %s %v", path, of, resource, ok)
		}
	}
}
