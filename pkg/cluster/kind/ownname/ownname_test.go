//go:build linux

package ownname

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tellVariable makes the test binary play the program: it says how it was called.
const tellVariable = "EVENKEEL_TEST_TELL"

func TestMain(m *testing.M) {
	if os.Getenv(tellVariable) != "" {
		fmt.Println(strings.Join(os.Args, " "), os.Getenv(variable) == "")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAProgramRunsByItsNameOnTheHost(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	there := t.TempDir()
	if err := os.Symlink(self, filepath.Join(there, "kube-scheduler")); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ path, called, says string }{
		"as it should":     {folder + ":/nowhere:" + there, "kube-scheduler@cp1", "kube-scheduler@cp1 --flag=1 true\n"},
		"not there":        {folder + ":/nowhere", "kube-scheduler@cp1", "there is no kube-scheduler in"},
		"without a host":   {there, "kube-scheduler", "has no host in it"},
		"nothing but this": {folder, "kube-scheduler@cp1", "there is no kube-scheduler in"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(self, "--flag=1")
			cmd.Env = append(os.Environ(), tellVariable+"=1", variable+"="+tc.called, "PATH="+tc.path)
			out, err := cmd.CombinedOutput()
			if !strings.Contains(string(out), tc.says) || (err == nil) != strings.HasSuffix(tc.says, "true\n") {
				t.Errorf("it said %q (%v), not %q", out, err, tc.says)
			}
		})
	}
}
