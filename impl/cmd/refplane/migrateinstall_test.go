package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestInstallDryRun(t *testing.T) {
	out, err := run(migrateInstallCommand(), "--dry-run", "--namespace", "ours", "--rate", "2.5", "--on-control-plane")
	if err != nil {
		t.Fatal(err)
	}
	image, err := ownImage()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kind: Deployment", "namespace: ours", "image: " + image, "- --image=" + image, "- --rate=2.5", "- --on-control-plane", "hostNetwork: true"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	// What is deployed are commands and flags that there are.
	command := migrateControllerCommand()
	for _, line := range strings.Split(out, "\n") {
		if name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "- --"), "="); strings.HasPrefix(strings.TrimSpace(line), "- --") && command.Flags().Lookup(name) == nil {
			t.Errorf("there is no flag %s", name)
		}
	}
}

func TestMigrateRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		command *cobra.Command
		args    []string
		says    string
	}{
		"namespace": {migrateInstallCommand(), []string{"--dry-run", "--namespace", "A B"}, "--namespace"},
		"rate":      {migrateInstallCommand(), []string{"--dry-run", "--rate", "0.1"}, "0.5"},
		"no rate":   {migrateInstallCommand(), []string{"--dry-run", "--rate", "NaN"}, "0.5"},
		"image":     {migrateControllerCommand(), []string{"--namespace", "n"}, "--image"},
		"worker":    {migrateWorkerCommand(), []string{"--namespace", "n"}, "--migration, --uid, --generation"},
		"no file":   {migrateInstallCommand(), []string{"--kubeconfig", "/does/not/exist"}, "/does/not/exist"},
	} {
		if _, err := run(test.command, test.args...); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
