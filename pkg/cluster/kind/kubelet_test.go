//go:build linux

package kind

import (
	"errors"
	"testing"

	"sigs.k8s.io/kind/pkg/exec"
)

func TestLastLines(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", " \n", ""},
		{"few", "one\n  two\n", "one | two"},
		{"where it was in the program", "error: no server\nmain.main\n\tkubeadm.go:25\nruntime.main\n\tproc.go:290\n", "error: no server"},
		{"many", "1\n2\n3\n4\n5\n6\n7\n8\n", "3 | 4 | 5 | 6 | 7 | 8"},
	} {
		if got := lastLines(tc.text); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestKubeletPatch(t *testing.T) {
	patch := KubeletPatch()
	if patch["kind"] != "KubeletConfiguration" || patch["failCgroupV1"] != false {
		t.Errorf("the patch is %v", patch)
	}
	// Only a node without the capability needs the gate.
	if _, gated := patch["featureGates"]; gated == boundingSetHas(resource) {
		t.Errorf("the patch is %v", patch)
	}
	// No kernel has as many capabilities.
	if boundingSetHas(63) {
		t.Error("there is a capability that does not exist")
	}
}

func TestExplain(t *testing.T) {
	plain := errors.New("plain")
	if !errors.Is(explain(plain), plain) || explain(plain).Error() != plain.Error() || explain(nil) != nil {
		t.Error("an error that says all is not left alone")
	}
	failed := &exec.RunError{Command: []string{"docker", "exec", "ctr"}, Output: []byte("cannot\nimport\n"), Inner: errors.New("exit status 1")}
	expectError(t, explain(failed), "ctr failed: exit status 1: cannot | import")
}
