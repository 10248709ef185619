//go:build linux

package install

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/manifest"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// theirs is a topology that asks for an agent.
const theirs = `apiVersion: evenkeel.dev/v1alpha1
kind: Topology
metadata: {name: theirs}
spec:
  provider: external
  members:
  - {name: cp1, external: {kubeconfig: cp1.kubeconfig}}
  external:
    agent: RUNG
    agentImage: registry.example/evenkeel-agent:v1
`

func planned(t testing.TB, rung cluster.Rung) Plan {
	t.Helper()
	topology, err := cluster.ParseTopology(filepath.Join(t.TempDir(), "theirs.yaml"), []byte(strings.ReplaceAll(theirs, "RUNG", string(rung))))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(topology, time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// What a security review reads changes only on purpose.
func TestManifest_IsTheReviewedOne(t *testing.T) {
	for _, rung := range []cluster.Rung{cluster.RungLook, cluster.RungDisrupt} {
		objects, err := planned(t, rung).Objects()
		if err != nil {
			t.Fatal(err)
		}
		compare(t, string(rung), objects.All()...)
	}
	compare(t, "static", planned(t, cluster.RungDisrupt).StaticPod())
}

func compare(t *testing.T, name string, objects ...any) {
	t.Helper()
	got, err := manifest.YAML(objects...)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name+".yaml")
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test ./pkg/cluster/agent/install -update writes it anew); got:\n%s", file, got)
	}
}

// The rung look can change nothing on a node: every mount is read-only, and no capability
// does more than read.
func TestObjects_LookCannotWrite(t *testing.T) {
	for rung, writes := range map[cluster.Rung]bool{cluster.RungLook: false, cluster.RungDisrupt: true} {
		objects, err := planned(t, rung).Objects()
		if err != nil {
			t.Fatal(err)
		}
		container := objects.DaemonSet.Spec.Template.Spec.Containers[0]
		written := slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return !m.ReadOnly })
		if written != writes {
			t.Errorf("%s: writable mounts: %t, want %t", rung, written, writes)
		}
		kills := slices.Contains(container.SecurityContext.Capabilities.Add, "KILL")
		if kills != writes || !slices.Contains(container.SecurityContext.Capabilities.Drop, "ALL") || *container.SecurityContext.Privileged {
			t.Errorf("%s: %+v", rung, container.SecurityContext)
		}
	}
}

func TestObjects_GiveNoTokenAndNoRight(t *testing.T) {
	objects, err := planned(t, cluster.RungDisrupt).Objects()
	if err != nil {
		t.Fatal(err)
	}
	if *objects.ServiceAccount.AutomountServiceAccountToken || *objects.DaemonSet.Spec.Template.Spec.AutomountServiceAccountToken {
		t.Error("a token is mounted")
	}
	text, err := manifest.YAML(objects.All()...)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "rbac.authorization.k8s.io") || strings.Count(string(text), "---\n") != 5 {
		t.Errorf("it has other objects than a namespace, an account without rights, a ConfigMap, a Secret and a DaemonSet:\n%s", text)
	}
}

// Other keys make other Pods: an agent reads its keys once.
func TestObjects_ChangeWithTheKeys(t *testing.T) {
	plan := planned(t, cluster.RungLook)
	digests := map[string]bool{}
	for range 2 {
		keys, err := MakeKeys(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		plan.Keys = keys
		objects, err := plan.Objects()
		if err != nil {
			t.Fatal(err)
		}
		digests[objects.DaemonSet.Spec.Template.Annotations[configAnnotation]] = true
		if !bytes.Equal(objects.Secret.Data["tls.key"], keys.Server.KeyPEM) || objects.Secret.StringData != nil {
			t.Errorf("the Secret has not the keys of the agents: %v", objects.Secret)
		}
	}
	if len(digests) != 2 {
		t.Errorf("the digests are %v", digests)
	}
}

// The agents' key and the authority's key stay on no file of this machine.
func TestMakeKeys_LeavesOnlyTheHarnessKey(t *testing.T) {
	dir := t.TempDir()
	if _, err := MakeKeys(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if !slices.Equal(names, []string{"ca.crt", "harness.crt", "harness.key"}) {
		t.Errorf("there are %v", names)
	}
	if _, credentials, err := ClientTLS(dir); err != nil || len(credentials) == 0 {
		t.Errorf("they cannot be read: %v, %d", err, len(credentials))
	}
	if _, _, err := ClientTLS(t.TempDir()); err == nil || !strings.Contains(err.Error(), "evenkeel agent install") {
		t.Errorf("without keys: %v", err)
	}
}

func TestNewPlan_RefusesWhatItCannotInstall(t *testing.T) {
	for want, content := range map[string]string{
		"asks for no agent": strings.Replace(theirs, "    agent: RUNG\n    agentImage: registry.example/evenkeel-agent:v1\n", "    releases: [v1.36.3]\n", 1),
		"does not know the programs of the distribution \"mine\"": strings.Replace(strings.ReplaceAll(theirs, "RUNG", "look"), "provider: external", "provider: external\n  distribution: mine", 1),
	} {
		topology, err := cluster.ParseTopology("theirs.yaml", []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewPlan(topology, time.Time{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
