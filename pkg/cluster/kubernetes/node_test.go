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
		{"only to be given", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, NodeRecord), []byte(`{"controlPlaneImages":["a:1"]}`), 0o600)
		}, "there is no node image of v1.35.4: run `make"},
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

func TestImageOf(t *testing.T) {
	images := []string{"registry.example:5000/kube-apiserver-amd64:v1.35.4", "registry.example/etcd:3.6.8-0", "kube-scheduler:v1.35.4", "registry.example/kube-scheduler-extra:v1"}
	for program, want := range map[string]string{
		"kube-apiserver": images[0], "etcd": images[1], "kube-scheduler": images[2],
	} {
		if got, err := ImageOf(images, program); err != nil || got != want {
			t.Errorf("the image of %s is %q, %v; want %q", program, got, err, want)
		}
	}
	if _, err := ImageOf(images, "kube-api"); err == nil || !strings.Contains(err.Error(), "there is no image of kube-api among registry") {
		t.Errorf("error %v", err)
	}
}

func TestLookUpImages(t *testing.T) {
	const release = "v1.36.3"
	cache := t.TempDir()
	t.Setenv(CacheVariable, cache)
	if _, err := LookUpImages(release); err == nil || !strings.Contains(err.Error(), "run `make node-images RELEASES=v1.36.3`") {
		t.Errorf("error %v", err)
	}
	dir := NodeDir(cache, release)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// No node image, no kubeadm and no kubelet.
	for name, content := range map[string]string{NodeRecord: `{"controlPlaneImages":["a:1","b:2"]}`, NodeArchive: ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	given, err := LookUpImages(release)
	if err != nil || given.Archive != filepath.Join(dir, NodeArchive) || !slices.Equal(given.Images, []string{"a:1", "b:2"}) {
		t.Errorf("%+v, %v", given, err)
	}
}
