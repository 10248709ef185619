package kubernetes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLookUpNode(t *testing.T) {
	const release = "v1.35.4"
	for _, tc := range []struct {
		name        string
		spoil       func(dir string) error
		expectError string
	}{
		{"complete", func(string) error { return nil }, ""},
		{"nothing", os.RemoveAll, "there is no node image of v1.35.4: run `make node-images RELEASES=v1.35.4`"},
		{"damaged", func(dir string) error { return os.WriteFile(filepath.Join(dir, NodeRecord), []byte("{}"), 0o600) }, "is damaged: remove it and run `make"},
		{"no archive", func(dir string) error { return os.Remove(filepath.Join(dir, NodeArchive)) }, "images.tar is not there: run `make"},
		{"no kubelet", func(dir string) error { return os.Remove(filepath.Join(dir, "kubelet")) }, "kubelet is not there: run `make"},
		{"no program", func(dir string) error { return os.Chmod(filepath.Join(dir, "kubeadm"), 0o600) }, "kubeadm cannot be run: run `make"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cache := t.TempDir()
			t.Setenv(CacheVariable, cache)
			dir := NodeDir(cache, release)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			made := Node{Image: "node:v1.35.4", EtcdImageTag: "3.6.8-0", Images: []string{"a:1", "b:2"}}
			record, err := json.Marshal(made)
			if err != nil {
				t.Fatal(err)
			}
			for name, content := range map[string][]byte{NodeRecord: record, NodeArchive: nil, "kubeadm": nil, "kubelet": nil} {
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := tc.spoil(dir); err != nil {
				t.Fatal(err)
			}
			node, err := LookUpNode(release)
			if tc.expectError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.expectError) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v, want one with %q", err, tc.expectError)
				}
				return
			}
			if err != nil || node.Image != made.Image || node.EtcdImageTag != made.EtcdImageTag || !slices.Equal(node.Images, made.Images) ||
				node.Archive != filepath.Join(dir, NodeArchive) || node.Kubeadm != filepath.Join(dir, "kubeadm") || node.Kubelet != filepath.Join(dir, "kubelet") {
				t.Errorf("%+v, %v", node, err)
			}
		})
	}
}
