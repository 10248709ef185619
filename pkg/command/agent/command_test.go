package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

const theirs = `apiVersion: evenkeel.dev/v1alpha1
kind: Topology
metadata: {name: theirs}
spec:
  provider: external
  members:
  - {name: cp1, external: {kubeconfig: cp1.kubeconfig}}
  external:
    agent: look
    agentImage: registry.example/evenkeel-agent:v1
`

// run runs the agent command on a topology, for which FILE stands in the arguments.
func run(t *testing.T, topology string, args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "theirs.yaml")
	if err := os.WriteFile(file, []byte(topology), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, one := range args {
		args[i] = strings.ReplaceAll(one, "FILE", file)
	}
	command := NewCommand("v1", clocktesting.NewFakeClock(time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)))
	var out bytes.Buffer
	command.SetOut(&out)
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs(args)
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestManifest_PrintsTheRungThatIsAskedFor(t *testing.T) {
	for _, tc := range []struct {
		args      []string
		want, not string
	}{
		{nil, `"expires": "2026-12-02T12:00:00Z"`, "NET_ADMIN"},
		{[]string{"--lifetime", "2h"}, `"expires": "2026-12-01T14:00:00Z"`, "NET_ADMIN"},
		{[]string{"--rung", "disrupt"}, "NET_ADMIN", "kind: Pod\n"},
		{[]string{"--rung", "static"}, "kind: Pod\n", "kind: DaemonSet"},
	} {
		out, err := run(t, theirs, append([]string{"manifest", "--topology", "FILE"}, tc.args...)...)
		if err != nil || !strings.Contains(out, tc.want) || strings.Contains(out, tc.not) {
			t.Errorf("%v: %v; want %q and not %q:\n%s", tc.args, err, tc.want, tc.not, out)
		}
	}
}

func TestAgent_RefusesInASentence(t *testing.T) {
	for want, args := range map[string][]string{
		"name the topology of the external cluster: --topology": {"manifest"},
		"--rung \"all\" is none of look, disrupt and static":    {"manifest", "--topology", "FILE", "--rung", "all"},
		"--lifetime -1s is not longer than 0s":                  {"manifest", "--topology", "FILE", "--lifetime", "-1s"},
		"takes no argument":                                     {"manifest", "x"},
		"there is no `agent isntall`":                           {"isntall"},
		"name the image and the file: --name and --out":         {"image"},
	} {
		if _, err := run(t, theirs, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
