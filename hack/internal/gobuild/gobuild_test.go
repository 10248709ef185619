package gobuild

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const theirs = `module k8s.io/kubernetes

go 1.25.0

require k8s.io/api v0.0.0

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/apiserver => ./staging/src/k8s.io/apiserver
	example.com/else => example.com/fork v1.0.0
	example.com/api => ./api
	example.com/tools => ./tools
)
`

func TestModuleFile(t *testing.T) {
	raw, err := moduleFile("v1.35.4", []string{kubernetesModule}, map[string]string{"example.com/api": "v0.1.0"}, []byte(theirs))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"go 1.25.0\n",
		"require k8s.io/kubernetes v1.35.4\n",
		"k8s.io/api => k8s.io/api v0.35.4\n",
		"k8s.io/apiserver => k8s.io/apiserver v0.35.4\n",
		"example.com/else => example.com/fork v1.0.0\n",
		"example.com/api => example.com/api v0.1.0\n",
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%q is missing in\n%s", want, raw)
		}
	}
	if strings.Contains(string(raw), "tools") {
		t.Errorf("a module was replaced of which no published version is known:\n%s", raw)
	}
	for _, bad := range []string{"no go.mod", "module m\n"} {
		if _, err := moduleFile("v1.35.4", nil, nil, []byte(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestVersionFlags(t *testing.T) {
	flags := versionFlags(Origin{version: "v1.35.4", time: time.Date(2026, 4, 15, 18, 1, 22, 0, time.UTC)})
	for _, want := range []string{
		"k8s.io/component-base/version.gitVersion=v1.35.4",
		"k8s.io/component-base/version.gitMajor=1",
		"k8s.io/component-base/version.gitMinor=35",
		"k8s.io/client-go/pkg/version.buildDate=2026-04-15T18:01:22Z",
	} {
		if !slices.Contains(flags, want) {
			t.Errorf("%s is missing in %v", want, flags)
		}
	}
	if strings.Contains(strings.Join(flags, " "), "gitCommit") {
		t.Error("the flags name a commit although the proxy reported none")
	}
	if !slices.Contains(versionFlags(Origin{version: "v1.35.4", commit: "abc"}), "k8s.io/component-base/version.gitCommit=abc") {
		t.Error("the commit is missing")
	}
}

func TestWhatIsThereIsNotBuiltAgain(t *testing.T) {
	cache := t.TempDir()
	// Building anything fails here.
	t.Setenv("PATH", "")
	for _, one := range []Target{Kubernetes(cache, "v1.35.4", "kubeadm", "kubelet"), Etcd(cache)} {
		if err := one.Make(t.Context()); err == nil {
			t.Errorf("%s was built without a module", one.What)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(one.Dir), ".*-*")); len(left) > 0 {
			t.Errorf("a failed build left %v", left)
		}
		for _, name := range one.Programs {
			if programs, err := one.missing(); err != nil || len(programs) == 0 {
				t.Errorf("%v are missing (%v) while %s is", programs, err, name)
			}
			if err := os.WriteFile(filepath.Join(one.Dir, name), nil, fileMode); err != nil {
				t.Fatal(err)
			}
		}
		if err := one.Make(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestBinaryName(t *testing.T) {
	for program, want := range map[string]string{
		"k8s.io/kubernetes/cmd/kubeadm":                          "kubeadm",
		"go.etcd.io/etcd/server/v3":                              "server",
		"github.com/containerd/containerd/v2/cmd/containerd":     "containerd",
		"github.com/containerd/containerd/v2/cmd/shim-runc-v2-x": "shim-runc-v2-x",
	} {
		if got := binaryName(program); got != want {
			t.Errorf("%s is built as %s, want %s", program, got, want)
		}
	}
}
