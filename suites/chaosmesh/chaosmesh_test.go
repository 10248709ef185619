package chaosmesh

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/external"
	"github.com/evenkeel/evenkeel/pkg/command"
	"github.com/evenkeel/evenkeel/suites/internal/bringup"
)

const (
	localTopology    = "clusters/local-3.yaml"
	topologyVariable = "EVENKEEL_TOPOLOGY"
	// planeBound is how long the test may take on a busy machine.
	planeBound = 20 * time.Minute
	// servedBound is how long an API server may take to serve custom resources that were defined.
	servedBound = time.Minute
	servedPoll  = 100 * time.Millisecond
)

// scenario hits the API server of a member by a fault, between two looks at discovery.
const scenario = `apiVersion: evenkeel.dev/v1alpha1
kind: Scenario
metadata: {name: struck}
description: Strikes an API server by Chaos Mesh.
judges: [AD-01, AD-04]
traffic: {off: true}
discovery: {record: true}
faults:
  pod-kill.yaml:
    apiVersion: chaos-mesh.org/v1alpha1
    kind: PodChaos
    metadata: {name: pod-kill}
    spec:
      action: pod-kill
      mode: one
      selector: {namespaces: [kube-system], labelSelectors: {component: kube-apiserver, evenkeel.dev/member: "@member"}}
steps:
  - registerAPI: {member: "@cp1", crd: lights, group: lights.evenkeel.dev, versions: [v1, v1beta1, v1alpha1]}
  - hold: {name: before, for: 11s}
  - crash: {member: "@cp2", fault: FAULT}
  - hold: {name: after, for: 11s}
`

// plane is a cluster with a stand-in for Chaos Mesh, and a topology of it as an external one.
func plane(t *testing.T) (c *controller, topology string) {
	t.Helper()
	file := filepath.Join("..", "..", localTopology)
	if named := os.Getenv(topologyVariable); named != "" {
		file = filepath.Join("..", "..", named)
	}
	made, err := cluster.LoadTopology(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, up := bringup.Start(t, made, "chaosmesh", planeBound)
	// Of the three members the controller speaks with one that no fault hits.
	config, err := up.ClientConfig("cp3", false)
	if err != nil {
		t.Fatal(err)
	}
	define(t, config)
	for _, m := range up.Members() {
		awaitKinds(ctx, t, up, m.Name)
	}
	theirs := &cluster.Topology{
		APIVersion: cluster.APIVersion, Kind: cluster.TopologyKind, Metadata: cluster.Metadata{Name: "theirs"},
		Spec: cluster.Spec{Provider: external.Name, Distribution: made.Spec.Distribution, External: &cluster.External{Faults: &cluster.FaultEngine{Engine: cluster.EngineChaosMesh}}},
	}
	for _, m := range up.Members() {
		theirs.Spec.Members = append(theirs.Spec.Members, cluster.MemberSpec{Name: m.Name, External: &cluster.ExternalMember{
			Kubeconfig: cluster.Kubeconfig{File: up.(cluster.KubeconfigWriter).Kubeconfig(), Context: m.Name}, Host: m.Host, ServerID: m.ServerID,
		}})
	}
	raw, err := yaml.Marshal(theirs)
	if err != nil {
		t.Fatal(err)
	}
	topology = filepath.Join(t.TempDir(), "theirs.yaml")
	if err := os.WriteFile(topology, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return runController(t, up, config), topology
}

// awaitKinds waits until the member serves the kinds of Chaos Mesh, which each API server learns of
// by itself.
func awaitKinds(ctx context.Context, t *testing.T, up cluster.Cluster, member string) {
	t.Helper()
	config, err := up.ClientConfig(member, false)
	if err != nil {
		t.Fatal(err)
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, servedPoll, servedBound, true, func(context.Context) (bool, error) {
		_, last = client.ServerResourcesForGroupVersion("chaos-mesh.org/v1alpha1")
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s does not serve the kinds of Chaos Mesh: %v", member, last)
	}
}

// needVerdicts demands one verdict of all requirements that the scenario lists. Others may fail: those
// of published Kubernetes do.
func needVerdicts(t *testing.T, printed, want string) {
	t.Helper()
	for _, id := range []string{"AD-01", "AD-04"} {
		if !regexp.MustCompile("(?m)^" + id + ` +MUST +` + want + `\b`).MatchString(printed) {
			t.Errorf("%s is not %s:\n%s", id, want, printed)
		}
	}
}

// play runs the scenario with a fault, and returns what the run printed and its report.
func play(t *testing.T, topology, fault string) (printed, report string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "scenarios", "struck.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(scenario, "FAULT", fault, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "bundle")
	var both bytes.Buffer
	command.Main([]string{"run", "--topology", topology, "--scenario", file, "--allow-disruption", "--out", out}, &both, &both)
	raw, err := os.ReadFile(filepath.Join(out, "report.yaml"))
	if err != nil {
		t.Fatalf("%v: the run printed\n%s", err, both.String())
	}
	return both.String(), string(raw)
}

// An API server that Chaos Mesh kills is proven to be killed by the API server itself, and a Pod
// that is deleted in vain leaves a doubt with its reason, whatever Chaos Mesh reports.
func TestFaultsAreLeftToChaosMesh(t *testing.T) {
	c, topology := plane(t)
	t.Run("a killed container has a witness", func(t *testing.T) {
		printed, report := play(t, topology, "apiserver-crash.yaml")
		if !strings.Contains(report, "is another process now") || strings.Contains(report, "never proved") {
			t.Errorf("the run printed\n%s\nthe report is\n%s", printed, report)
		}
		needVerdicts(t, printed, "PASS")
		if c.killed != 1 {
			t.Errorf("the stand-in has killed %d containers", c.killed)
		}
	})
	t.Run("a deleted mirror Pod has none, and the report says why", func(t *testing.T) {
		printed, report := play(t, topology, "pod-kill.yaml")
		said := strings.Join(strings.Fields(report), " ") // lines are folded
		if !strings.Contains(said, "and the same process of the API server answers") || !strings.Contains(said, "never proved that it bit") {
			t.Errorf("the run printed\n%s\nthe report is\n%s", printed, report)
		}
		needVerdicts(t, printed, "INCONCLUSIVE")
		if c.deleted != 1 {
			t.Errorf("the stand-in has deleted %d Pods", c.deleted)
		}
	})
	left, err := c.objects.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) != 0 {
		t.Errorf("error %v, and %d objects are left", err, len(left.Items))
	}
}
