package kind

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
)

const (
	fullSet    = "CapBnd:\t000001ffffffffff\n"
	reducedSet = "Name:\tx\nCapBnd:\t000001fffeffffff\n"
)

func answer(text string, err error) ask {
	return func(context.Context, ...string) ([]byte, error) { return []byte(text), err }
}

func TestDaemon(t *testing.T) {
	const plain, wrapped = `{"ServerVersion":"28.2.2","DefaultRuntime":"runc"}`, `{"ServerVersion":"28.2.2","DefaultRuntime":"evenkeel"}`
	for _, tc := range []struct {
		name   string
		docker ask
		status string
		ok     bool
		detail string
	}{
		{"plain", answer(plain, nil), fullSet, true, "28.2.2, runtime runc"},
		{"nothing known of capabilities", answer(plain, nil), "", true, "28.2.2"},
		{"plain where it cannot work", answer(plain, nil), reducedSet, false, "run `make docker`"},
		{"wrapped", answer(wrapped, nil), reducedSet, true, "lacks CAP_SYS_RESOURCE"},
		{"no daemon", answer("", errors.New("exit status 1")), fullSet, false, "`make docker`"},
		{"a daemon that failed", answer(`{"ServerErrors":["no"]}`, nil), fullSet, false, "no daemon answers"},
		{"no Docker", answer("x", nil), fullSet, false, "no daemon answers"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := daemon(t.Context(), tc.docker, tc.status)
			if f.OK != tc.ok || f.Needed || !strings.Contains(f.Detail, tc.detail) {
				t.Errorf("%+v, want ok %v and %q", f, tc.ok, tc.detail)
			}
		})
	}
}

func TestNodeImages(t *testing.T) {
	cache := t.TempDir()
	t.Setenv(kubernetes.CacheVariable, cache)
	if f := nodeImages(t.Context(), answer("", nil)); f.OK || f.Needed || !strings.Contains(f.Detail, "make node-images") {
		t.Errorf("with nothing made: %+v", f)
	}
	releases := kubernetes.Releases()
	dir := kubernetes.NodeDir(cache, releases[0])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	record, err := json.Marshal(kubernetes.Node{Image: "node:x", EtcdImageTag: "1", Images: []string{"a:1"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{kubernetes.NodeRecord: string(record), kubernetes.NodeArchive: "", "kubeadm": "", "kubelet": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f := nodeImages(t.Context(), answer("", nil))
	if want := "releases " + releases[0] + "; not made: " + releases[1]; !f.OK || !strings.HasPrefix(f.Detail, want) {
		t.Errorf("%+v, want %q", f, want)
	}
	// The record is there, and Docker has lost the image.
	if f := nodeImages(t.Context(), answer("", errors.New("no such image"))); f.OK {
		t.Errorf("without the image: %+v", f)
	}
}
