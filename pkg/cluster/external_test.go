package cluster

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// theirs is a topology of an external cluster, for tests to complete.
const theirs = `apiVersion: evenkeel.dev/v1alpha1
kind: Topology
metadata: {name: t}
spec:
  provider: external
  members:
  - name: cp1
    external:
      kubeconfig: cp1.kubeconfig
`

func TestParseExternal(t *testing.T) {
	member, external := theirs+"      ", theirs+"  external:\n    "
	for _, tc := range []struct{ name, content, expectError string }{
		{"smallest", theirs, ""},
		{"all", member + "context: x\n      host: node-1\n      serverID: apiserver-x\n      etcd: {endpoint: \"https://10.0.0.1:2379\", ca: a, cert: b, key: c}\n" +
			"  external:\n    releases: [v1.35.4, v1.36.3]\n    address: 10.0.0.9\n    balancer: {kubeconfig: lb.kubeconfig}\n" +
			"    hooks:\n      kill: {command: [./kill.sh], timeout: 30s}\n", ""},
		{"unknown key of a member", member + "kubeconf: x\n", `f.yaml:10: unknown key "kubeconf"`},
		{"unknown key", external + "hook: {}\n", `f.yaml:11: unknown key "hook"`},
		{"no way to a member", strings.Replace(theirs, "    external:\n      kubeconfig: cp1.kubeconfig\n", "", 1), "spec.members[0] has no release: set one, or spec.release"},
		{"no kubeconfig", strings.Replace(theirs, "kubeconfig: cp1.kubeconfig", "context: x", 1), "spec.members[0].external.kubeconfig is missing"},
		{"settings", theirs + "  settings: {migrationRate: 3}\n", "spec.settings cannot be set"},
		{"binaries", theirs + "  binaries: {v1.35.4: x}\n", "spec.binaries, spec.replaceWith and spec.settings cannot be set"},
		{"no such hook", external + "hooks: {upgrad: {command: [x]}}\n", "spec.external.hooks.upgrad is no hook; there are: cutOff, kill"},
		{"no command", external + "hooks: {kill: {command: []}}\n", "spec.external.hooks.kill has no command"},
		{"negative", external + "hooks: {kill: {command: [x], timeout: -1s}}\n", "spec.external.hooks.kill.timeout is negative"},
		{"no way back", external + "hooks: {pause: {command: [x]}}\n", "spec.external.hooks.pause needs the hook resume"},
		{"no power again", external + "hooks: {powerOff: {command: [x]}}\n", "needs the hook powerOn"},
		{"a release twice", external + "releases: [a, a]\n", `spec.external.releases[1] "a" is empty or there twice`},
		{"no address", external + "address: http://x\n", `spec.external.address "http://x" is no address`},
		{"an IPv6 address", external + "address: \"::1\"\n", `spec.external.address "::1" is an IPv6 address`},
		{"an IPv6 address in brackets", external + "address: \"[2001:db8::7]\"\n", `spec.external.address "[2001:db8::7]" is an IPv6 address`},
		{"an address with a port", external + "address: 192.0.2.7:443\n", `spec.external.address "192.0.2.7:443" is no address`},
		{"a name that is no DNS name", external + "address: Harness_1\n", `spec.external.address "Harness_1" is no address`},
		{"a host name", external + "address: harness.example.com\n", ""},
		{"no balancer", external + "balancer: {context: x}\n", "spec.external.balancer.kubeconfig is missing"},
		{"etcd without a URL", member + "etcd: {endpoint: 10.0.0.1}\n", `etcd.endpoint "10.0.0.1" is no URL`},
		{"etcd with a password", member + "etcd: {endpoint: \"https://me:secret@10.0.0.1\", ca: x}\n", "must not hold a password"},
		{"etcd without a CA", member + "etcd: {endpoint: \"https://10.0.0.1:2379\"}\n", "etcd.ca is missing"},
		{"half a pair", member + "etcd: {endpoint: \"https://10.0.0.1:2379\", ca: x, cert: y}\n", "etcd.cert and key go together"},
		{"a driver", strings.Replace(member, "kubeconfig: cp1.kubeconfig", "kubeconfig: cp1.kubeconfig\n      address: 10.0.0.1", 1) + "serverID: x\n" +
			"  external:\n    driver: kubeadm\n    ssh: {user: admin, port: 22, identityFile: id, jumpHost: \"me@bastion:22,other\"}\n    hooks: {stop: {command: [x]}}\n", ""},
		{"Chaos Mesh", external + "faults: {engine: chaos-mesh, namespace: chaos}\n", ""},
		{"leave to write", external + "traffic: {requestsPerSecond: 20, budget: 1000, controlPlane: true}\n", ""},
		{"leave to write as usual", external + "traffic: {}\n", ""},
		{"a negative rate", external + "traffic: {requestsPerSecond: -1}\n", "spec.external.traffic.requestsPerSecond -1 is not between 0 and 1000"},
		{"a flood", external + "traffic: {requestsPerSecond: 1e6}\n", "spec.external.traffic.requestsPerSecond 1e+06 is not between"},
		{"a negative budget", external + "traffic: {budget: -1}\n", "spec.external.traffic.budget -1 is not between"},
		{"another engine", external + "faults: {engine: litmus}\n", `spec.external.faults.engine "litmus" is none; chaos-mesh is`},
		{"no name of a namespace", external + "faults: {engine: chaos-mesh, namespace: a/b}\n", `spec.external.faults.namespace "a/b" is no name`},
		{"ssh without a driver", external + "ssh: {user: admin}\n", "say how a driver reaches the nodes: name it with spec.external.driver"},
		{"an address without a driver", member + "address: 10.0.0.1\n", "spec.members[0].external.address says where a driver or the agent reaches the node"},
		{"several hosts in the place of one", member + "host: \"node-1,node-2\"\n  external: {driver: talos}\n", `external.host "node-1,node-2" is no host name by which the driver reaches the node`},
		{"a host that no driver reaches", member + "host: \"node 1\"\n      address: 10.0.0.1\n  external: {driver: talos}\n", ""},
		{"an option in the place of an address", member + "address: -oProxyCommand=x\n  external: {driver: kubeadm}\n", `address "-oProxyCommand=x" is no address or host name`},
		{"an option in the place of a user", external + "driver: kubeadm\n    ssh: {user: -x}\n", `spec.external.ssh.user "-x" is no name of a user`},
		{"an option in the place of a jump host", external + "driver: kubeadm\n    ssh: {jumpHost: -x}\n", `spec.external.ssh.jumpHost "-x" is no host`},
		{"no port", external + "driver: kubeadm\n    ssh: {port: 70000}\n", "spec.external.ssh.port 70000 is no port"},
		{"an agent", external + "agent: look\n    agentImage: example/agent:v1\n    agentTunnel: [ssh, x]\n", ""},
		{"an address for an agent", member + "address: 10.0.0.1\n  external: {agent: look, agentImage: x}\n", ""},
		{"an agent elsewhere", external + "agent: disrupt\n    agentImage: x\n    agentPaths: {manifests: /var/lib/rancher/rke2/agent/pod-manifests}\n", ""},
		{"no rung", external + "agent: all\n    agentImage: x\n", `spec.external.agent "all" is neither look nor disrupt`},
		{"no image", external + "agent: look\n", "spec.external.agentImage is missing"},
		{"an image without an agent", external + "agentImage: x\n", "spec.external.agent is missing"},
		{"half of etcd", external + "agent: look\n    agentImage: x\n    agentPaths: {manifests: /m, etcdCA: /ca}\n", "spec.external.agentPaths.etcdCert is missing"},
		{"no manifests", external + "agent: look\n    agentImage: x\n    agentPaths: {etcdCA: /a, etcdCert: /b, etcdKey: /c}\n", "agentPaths.manifests is missing"},
		{"a relative path", external + "agent: look\n    agentImage: x\n    agentPaths: {manifests: /etc/../root}\n", "is no absolute path on the node"},
		{"a tunnel without a command", external + "agent: look\n    agentImage: x\n    agentTunnel: [\"\"]\n", "agentTunnel has no command"},
		{"one member of two", theirs + "  - name: cp2\n", "spec.members[1].external is missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			topology, err := ParseTopology("f.yaml", []byte(tc.content))
			checkError(t, err, tc.expectError)
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells a password: %v", err)
			}
			if err == nil && (topology.Spec.Distribution != ForeignDistribution || !topology.ExternallyManaged()) {
				t.Errorf("the distribution is %s", topology.Spec.Distribution)
			}
		})
	}
}

func TestPublishedTopologyLeadsNowhere(t *testing.T) {
	topology, err := ParseTopology("f.yaml", []byte(theirs+"      context: private\n      address: private\n      etcd: {endpoint: \"https://private:2379\", ca: private, cert: private, key: private}\n"+
		"  external:\n    agent: look\n    agentImage: private\n    agentTunnel: [private]\n    agentPaths: {manifests: /private}\n    releases: [v1.35.4]\n    address: private\n    balancer: {kubeconfig: private}\n    driver: kubeadm\n    ssh: {user: private, identityFile: private, jumpHost: private}\n    talosctl: {config: private}\n    hooks: {kill: {command: [private, --token=private], timeout: 7s}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := yaml.Marshal(topology.Published())
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	if strings.Contains(text, "private") || strings.Contains(text, "cp1.kubeconfig") {
		t.Errorf("it tells what is private:\n%s", text)
	}
	for _, want := range []string{"name: cp1", "provider: external", "distribution: kubernetes", "v1.35.4", "kill:", "timeout: 7s", "driver: kubeadm", "agent: look"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not tell %q:\n%s", want, text)
		}
	}
	if topology.Spec.Members[0].External.File != "cp1.kubeconfig" || topology.Spec.External.Hooks["kill"].Command[0] != "private" {
		t.Error("publishing has changed the topology itself")
	}
}
