package main

import (
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

const kindsOwn = `apiVersion: v1
kind: Config
current-context: kind-theirs
clusters: [{name: kind-theirs, cluster: {server: "https://127.0.0.1:40000"}}]
contexts: [{name: kind-theirs, context: {cluster: kind-theirs, user: kind-theirs}}]
users: [{name: kind-theirs, user: {token: x}}]
`

func strangers() kindCluster {
	return kindCluster{name: "theirs", gateway: "172.18.0.1", kubeconfig: []byte(kindsOwn), nodes: []controlPlaneNode{
		{"theirs-control-plane", "172.18.0.5"}, {"theirs-control-plane2", "172.18.0.3"}, {"theirs-control-plane3", "172.18.0.4"},
	}}
}

// With the agent hooks do what that cannot, and without it all that they can.
func TestKind_TopologyOfACluster(t *testing.T) {
	for agent, want := range map[string][]string{
		"":        {cluster.HookKill, cluster.HookPowerOff, cluster.HookUpgrade},
		"disrupt": {cluster.HookPowerOff, cluster.HookUpgrade},
	} {
		address := ""
		asked := request{releases: []string{"v1.35.4", "v1.36.3"}, begins: "v1.35.4", agent: agent}
		if agent != "" {
			asked.agentImage, address = "example/agent:v1", "172.18.0.3"
		}
		topology, err := strangers().topology("/x/kubeconfig", "/x/node.sh", asked)
		if err != nil {
			t.Fatal(err)
		}
		access := topology.Spec.External
		for _, hook := range []string{cluster.HookKill, cluster.HookPowerOff, cluster.HookUpgrade} {
			if _, has := access.Hooks[hook]; has != slices.Contains(want, hook) {
				t.Errorf("with the agent %q there is a hook %s: %v", agent, hook, has)
			}
		}
		second := topology.Spec.Members[1].External
		if topology.Spec.Release != "v1.35.4" || access.Address != "172.18.0.1" || access.Balancer.Context != balancerContext ||
			second.Context != "cp2" || second.Host != "theirs-control-plane2" || second.Address != address {
			t.Errorf("the topology is %+v, with the second member %+v", topology.Spec, second)
		}
	}
}

func TestKind_AContextLeadsToEachMember(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "kubeconfig")
	if err := strangers().contexts(file); err != nil {
		t.Fatal(err)
	}
	written, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for context, want := range map[string]string{balancerContext: "https://127.0.0.1:40000", "cp1": "https://172.18.0.5:6443", "cp3": "https://172.18.0.4:6443"} {
		if got := written.Clusters[written.Contexts[context].Cluster].Server; got != want || written.Contexts[context].AuthInfo != "kind-theirs" {
			t.Errorf("%s leads to %s, want %s", context, got, want)
		}
	}
	broken := strangers()
	broken.kubeconfig = []byte("apiVersion: v1\nkind: Config\n")
	if err := broken.contexts(file); err == nil {
		t.Error("a kubeconfig without a context is taken")
	}
}
