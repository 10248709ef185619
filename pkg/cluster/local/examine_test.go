package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

func TestPublishedKubernetes(t *testing.T) {
	cache := t.TempDir()
	t.Setenv(kubernetes.CacheVariable, cache)
	if f := publishedKubernetes(); f.OK || f.Needed || !strings.Contains(f.Detail, "make binaries") {
		t.Errorf("with nothing built: %+v", f)
	}
	releases := kubernetes.Releases()
	put := func(dir string, names ...string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(kubernetes.EtcdDir(cache), "etcd")
	put(kubernetes.ReleaseDir(cache, releases[0]), kubernetes.Binaries...)
	put(kubernetes.ReleaseDir(cache, releases[1]), kubernetes.Binaries[0])
	f := publishedKubernetes()
	if want := "releases " + releases[0] + "; not built: " + releases[1]; !f.OK || !strings.HasPrefix(f.Detail, want) {
		t.Errorf("%+v, want %q", f, want)
	}
}
