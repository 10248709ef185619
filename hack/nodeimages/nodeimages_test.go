package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

const listed = `registry.test/kube-apiserver:v1.35.4
registry.test/kube-controller-manager:v1.35.4
registry.test/kube-scheduler:v1.35.4
registry.test/kube-proxy:v1.35.4
registry.test/coredns/coredns:v1.13.1
registry.test/pause:3.10.1
registry.test:5000/etcd:3.6.6-0
`

func TestPlan(t *testing.T) {
	images, err := plan(listed, "v3.6.8")
	if err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]string{
		"kube-apiserver": "registry.test/kube-apiserver:v1.35.4",
		"pause":          "registry.test/pause:3.10.1",
		"etcd":           "registry.test:5000/etcd:3.6.8-0",
	} {
		if images[program] != want {
			t.Errorf("%s is %q, want %q", program, images[program], want)
		}
	}
	if len(images) != len(kubernetes.Binaries)+2 {
		t.Errorf("the plan is %v", images)
	}
	for name, bad := range map[string]string{
		"kube-scheduler": strings.ReplaceAll(listed, "kube-scheduler", "else"),
		"no tag":         listed + "registry.test:5000/else",
	} {
		if _, err := plan(bad, "v3.6.8"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
}

func TestChoose(t *testing.T) {
	stored := append(strings.Fields(listed), "registry.test/kube-apiserver@sha256:0123", "sha256:4567")
	images, tag, err := choose(stored)
	if err != nil || tag != "3.6.6-0" || len(images) != len(kubernetes.Binaries) || !slices.Contains(images, "registry.test/kube-apiserver:v1.35.4") {
		t.Errorf("%v %q, %v", images, tag, err)
	}
	if _, _, err := choose(stored[1:]); err == nil || !strings.Contains(err.Error(), "kube-apiserver") {
		t.Errorf("error %v", err)
	}
}

func TestRefused(t *testing.T) {
	for said, want := range map[string]bool{
		"Error response from daemon: manifest for node:v1 not found: manifest unknown: manifest unknown":                          true,
		"Error response from daemon: pull access denied for x, repository does not exist or may require 'docker login'":           true,
		"Error response from daemon: Get \"https://registry.test/v2/\": dial tcp: lookup registry.test on [::1]:53: no such host": false,
		"Error response from daemon: Get \"https://registry.test/v2/\": context deadline exceeded":                                false,
		"": false,
	} {
		if got := refused(said); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}

func TestAClosedNetworkIsFoundOutOnce(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	calls := filepath.Join(dir, "calls")
	fake := func(script string) {
		if err := install(dir, "docker", []byte("#!/bin/sh\necho \"$@\" >>"+calls+"\n"+script), programMode); err != nil {
			t.Fatal(err)
		}
	}
	var images registry
	fake("echo v1: Pulling from node")
	if !images.pull(t.Context(), "node:v1") {
		t.Error("what was pulled is not there")
	}
	fake("echo manifest unknown >&2; exit 1")
	if images.pull(t.Context(), "node:v2") || images.closed {
		t.Error("a registry that answered is taken for closed")
	}
	fake("echo no such host >&2; exit 1")
	for range 2 {
		if images.pull(t.Context(), "node:v3") || !images.closed {
			t.Error("a closed network is taken for open")
		}
	}
	if said, err := os.ReadFile(calls); err != nil || string(said) != "pull node:v1\npull node:v2\npull node:v3\n" {
		t.Errorf("docker was called with %q, %v", said, err)
	}
}

// What is read out of kind's source must be found in the version that this
// module requires.
func TestKindSaysWhatIsNeeded(t *testing.T) {
	kind, err := findKind(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	image, err := kind.balancerImage()
	if repository, tag, ok := cutTag(image); err != nil || !ok || repository == "" || tag == "" {
		t.Errorf("the balancer's image is %q, %v", image, err)
	}
	for _, name := range []string{"CONTAINERD_VERSION", "CRICTL_VERSION"} {
		if version, err := kind.argument(name); err != nil || !strings.HasPrefix(version, "v") {
			t.Errorf("%s is %q, %v", name, version, err)
		}
	}
	if _, err := kind.argument("NOTHING"); err == nil {
		t.Error("an argument that does not exist was found")
	}
	root := t.TempDir()
	if err := installKindFiles(root, kind.baseFiles()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{
		"usr/local/bin/entrypoint":           programMode,
		"kind/bin/undo-mount-hacks.sh":       programMode,
		"etc/containerd/config.toml":         fileMode,
		"etc/systemd/system/kubelet.service": fileMode,
	} {
		if info, err := os.Stat(filepath.Join(root, path)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	// These lines are rewritten: one for each release, one on restricted hosts.
	config, err := os.ReadFile(filepath.Join(root, "etc/containerd/config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"sandbox_image = ", "restrict_oom_score_adj = false"} {
		if !strings.Contains(string(config), line) {
			t.Errorf("containerd's configuration has no %q", line)
		}
	}
}

func TestBaseSpec(t *testing.T) {
	raw, err := baseSpec([]byte(`{"ociVersion":"1.2","process":{"cwd":"/","rlimits":[{"type":"RLIMIT_NOFILE"}]},"hooks":{"createContainer":[{"path":"/other"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Process map[string]any
		Hooks   struct {
			CreateContainer []struct{ Path string }
		}
	}
	if err := json.Unmarshal(raw, &spec); err != nil || len(spec.Process) != 1 || len(spec.Hooks.CreateContainer) != 2 {
		t.Errorf("%s, %v", raw, err)
	}
	for _, bad := range []string{"", "{}"} {
		if _, err := baseSpec([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestStrip(t *testing.T) {
	root := t.TempDir()
	for _, path := range []string{"/var/cache/apt/archives/x.deb", "/lib/systemd/system/basic.target.wants/x", "/usr/sbin/ip"} {
		if err := install(root, path, nil, fileMode); err != nil {
			t.Fatal(err)
		}
	}
	if err := strip(root); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"var/cache/apt/archives": false, "lib/systemd/system/basic.target.wants/x": false, "usr/sbin/ip": true} {
		if _, err := os.Stat(filepath.Join(root, path)); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestKeyFollowsTheRecipe(t *testing.T) {
	made := map[string]bool{}
	for _, of := range [][]string{{"base.go"}, {"base.go", "rootfs.go"}} {
		for _, ingredient := range []string{"v1", "v2"} {
			id, err := key(of, ingredient)
			if err != nil || len(id) != keyLength || made[id] {
				t.Errorf("%v of %s: %q, %v", of, ingredient, id, err)
			}
			again, err := key(of, ingredient)
			if err != nil || again != id {
				t.Errorf("again: %q, %v", again, err)
			}
			made[id] = true
		}
	}
	if _, err := key([]string{"nothing.go"}); err == nil {
		t.Error("a file that is not there was taken")
	}
}

func TestARecordAppearsWhole(t *testing.T) {
	cache := t.TempDir()
	final := kubernetes.NodeDir(cache, "v1.35.4")
	if err := install(final, "old", nil, fileMode); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no")
	if err := record(cache, "v1.35.4", func(string) (kubernetes.Node, error) { return kubernetes.Node{}, failed }); !errors.Is(err, failed) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(final, "old")); err != nil {
		t.Errorf("a failure took what was there: %v", err)
	}
	err := record(cache, "v1.35.4", func(dir string) (kubernetes.Node, error) {
		return kubernetes.Node{Image: "node:1"}, install(dir, "new", nil, fileMode)
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(filepath.Dir(final), "*", "*"))
	if err != nil || len(found) != 2 {
		t.Errorf("there is %v, %v", found, err)
	}
}

func TestUnknownReleasesAreRefused(t *testing.T) {
	if err := run(t.Context(), []string{"v1.2.3"}, false); err == nil || !strings.Contains(err.Error(), "v1.2.3") {
		t.Errorf("error %v", err)
	}
}

func TestNothingIsNextToTheNewest(t *testing.T) {
	known := kubernetes.Releases()
	if next, err := after(known[0]); err != nil || next != known[1] {
		t.Errorf("%q, %v", next, err)
	}
	newest := known[len(known)-1]
	if err := run(t.Context(), nil, true); err == nil || !strings.Contains(err.Error(), "no release after "+newest) {
		t.Errorf("error %v", err)
	}
}

func TestRetagged(t *testing.T) {
	images, err := retagged(strings.Fields(listed)[:3], "v1.36.3")
	if err != nil || images[kubernetes.APIServer] != "registry.test/kube-apiserver:v1.36.3" || len(images) != len(kubernetes.Binaries) {
		t.Errorf("%v, %v", images, err)
	}
	if _, err := retagged(strings.Fields(listed)[1:], "v1.36.3"); err == nil || !strings.Contains(err.Error(), "kube-apiserver") {
		t.Errorf("error %v", err)
	}
}
