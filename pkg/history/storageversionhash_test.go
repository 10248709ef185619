package history

import "testing"

// The hashes are those that Kubernetes gives.
func TestStorageVersionHash(t *testing.T) {
	for _, tc := range []struct{ apiVersion, kind, want string }{
		{"v1", "ConfigMap", "qFsyl6wFWjQ="}, {"apps/v1", "Deployment", "8aSe+NMegvE="},
	} {
		if got := StorageVersionHash(tc.apiVersion, tc.kind); got != tc.want {
			t.Errorf("%s %s: got %s, want %s", tc.apiVersion, tc.kind, got, tc.want)
		}
	}
}
