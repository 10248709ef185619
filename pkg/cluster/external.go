package cluster

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// External is what a topology says of an external cluster.
type External struct {
	// Releases that members run and that hooks can take them to, oldest first, each
	// as /version names it. Empty means those that members run.
	Releases []string `yaml:"releases,omitempty"`
	// Address of this machine by which the API servers reach it, an IPv4 address or a DNS
	// name; empty where they do not.
	Address string `yaml:"address,omitempty"`
	// PeerDiscovery is whether each API server also tells of what only the others host, and
	// proxies requests for it to them (KEP-4020).
	PeerDiscovery bool `yaml:"peerDiscovery,omitempty"`
	// Balancer leads to the load balancer before the API servers, if there is one.
	Balancer *Kubeconfig `yaml:"balancer,omitempty"`
	// Hooks are the commands that operate nodes, each under one of the Hook… names.
	// What has none is done by the driver, or not done to this cluster.
	Hooks map[string]Hook `yaml:"hooks,omitempty"`
	// Driver names the installer whose commands operate the nodes wherever there is no hook;
	// empty means that there are only hooks. `evenkeel drivers` lists them.
	Driver string `yaml:"driver,omitempty"`
	// SSH is how a driver reaches the nodes that uses ssh.
	SSH *SSH `yaml:"ssh,omitempty"`
	// Talosctl is how the driver talos reaches the nodes.
	Talosctl *Talosctl `yaml:"talosctl,omitempty"`
	// Agent is how much Evenkeel's node agent may do on the control-plane nodes; empty where
	// there is none.
	Agent Rung `yaml:"agent,omitempty"`
	// AgentImage is the image that nodes run the agent from.
	AgentImage string `yaml:"agentImage,omitempty"`
	// AgentTunnel is a command, run without a shell, whose standard input and output are a
	// connection to the agent of EVENKEEL_HOST, at EVENKEEL_AGENT_PORT of the node's
	// loopback; empty where this machine reaches the nodes.
	AgentTunnel []string `yaml:"agentTunnel,omitempty"`
	// AgentPaths are the files that the agent is given; nil means where kubeadm has them.
	AgentPaths *AgentPaths `yaml:"agentPaths,omitempty"`
	// Traffic is the leave to write objects of Evenkeel's own; nil means that a run writes none.
	Traffic *TrafficLeave `yaml:"traffic,omitempty"`
	// Faults says what injects faults; nil means the hooks and the driver.
	Faults *FaultEngine `yaml:"faults,omitempty"`
}

// FaultEngine is what injects those faults that are objects of Chaos Mesh.
type FaultEngine struct {
	// Engine is EngineChaosMesh.
	Engine string `yaml:"engine"`
	// Namespace is the one in which Chaos Mesh runs; empty means chaos-mesh.
	Namespace string `yaml:"namespace,omitempty"`
}

// EngineChaosMesh is the Chaos Mesh that runs in the cluster.
const EngineChaosMesh = "chaos-mesh"

// ExternalMember is how a member of such a cluster is reached.
type ExternalMember struct {
	// Kubeconfig leads to the member's own API server, as an administrator.
	Kubeconfig `yaml:",inline"`
	// Host is the host name that its components see; empty means the member's name.
	Host string `yaml:"host,omitempty"`
	// ServerID is the identity that its API server takes part under; empty means what
	// follows from the distribution and the host name.
	ServerID string `yaml:"serverID,omitempty"`
	// Address is where a driver or the harness's agent is reached at the node; empty means the
	// host name for a driver, and for the agent the host that the kubeconfig names.
	Address string `yaml:"address,omitempty"`
	// Etcd may be read; nil where it may not, and nothing is judged from it then unless the
	// agent reads it.
	Etcd *EtcdAccess `yaml:"etcd,omitempty"`
}

// Kubeconfig is a context in a kubeconfig file.
type Kubeconfig struct {
	// File is its path; one that is not absolute begins at the topology's file.
	File string `yaml:"kubeconfig"`
	// Context in it; empty means the current one.
	Context string `yaml:"context,omitempty"`
}

// EtcdAccess is how a member's etcd is reached. Paths are as in Kubeconfig.
type EtcdAccess struct {
	// Endpoint is a URL, such as https://10.0.0.1:2379.
	Endpoint string `yaml:"endpoint"`
	// CA, Cert and Key are PEM files.
	CA   string `yaml:"ca,omitempty"`
	Cert string `yaml:"cert,omitempty"`
	Key  string `yaml:"key,omitempty"`
}

// Hook is a command that does something to a member.
type Hook struct {
	// Command with its arguments, run in the topology's folder, without a shell.
	Command []string `yaml:"command"`
	// Timeout is how long it may take; 0 means the provider's default.
	Timeout Duration `yaml:"timeout,omitempty"`
}

// What hooks do. EVENKEEL_MEMBER tells each of them to which member.
const (
	// HookUpgrade and HookRollback take the member from EVENKEEL_FROM to
	// EVENKEEL_RELEASE.
	HookUpgrade  = "upgrade"
	HookRollback = "rollback"
	// HookStop ends the member's components in good order, or with
	// EVENKEEL_COMPONENT one, and HookStart starts them again.
	HookStop  = "stop"
	HookStart = "start"
	// HookKill ends the member's EVENKEEL_COMPONENT without warning. Where nothing
	// starts it again by itself, there has to be a HookStart.
	HookKill = "kill"
	// HookPause freezes the EVENKEEL_COMPONENT, or all of the member, and HookResume
	// lets it go on.
	HookPause  = "pause"
	HookResume = "resume"
	// HookCutOff cuts the member off from all others, and HookReconnect takes that back.
	HookCutOff    = "cutOff"
	HookReconnect = "reconnect"
	// HookPowerOff takes the member's power away, and HookPowerOn gives it back.
	HookPowerOff = "powerOff"
	HookPowerOn  = "powerOn"
)

// hookUndoneBy are all hooks, each with the one without which its effect would last;
// empty where it needs none.
var hookUndoneBy = map[string]string{
	HookUpgrade: "", HookRollback: "", HookKill: "",
	HookStop: HookStart, HookPause: HookResume, HookCutOff: HookReconnect, HookPowerOff: HookPowerOn,
	HookStart: "", HookResume: "", HookReconnect: "", HookPowerOn: "",
}

// ExternallyManaged is whether the topology is of a cluster that is there before a run and
// stays after it, since it says how that is reached. Its provider is an Adopter.
func (t *Topology) ExternallyManaged() bool {
	return t.Spec.External != nil || slices.ContainsFunc(t.Spec.Members, func(m MemberSpec) bool { return m.External != nil })
}

// externalProblems says what is wrong in what only such a topology has, or in what it
// must not have. Whether its provider takes such a topology is for Registry.Check to say.
func (t *Topology) externalProblems() (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if !t.ExternallyManaged() {
		return nil
	}
	if len(t.Spec.Binaries) > 0 || t.Spec.ReplaceWith != "" || t.Spec.Settings != (Settings{}) {
		complain("spec.binaries, spec.replaceWith and spec.settings cannot be set for an external cluster")
	}
	if t.Spec.Emulate != "" || slices.ContainsFunc(t.Spec.Members, func(m MemberSpec) bool { return m.Emulate != "" }) {
		complain("emulate cannot be set for an external cluster: the flags of its components are not Evenkeel's to set")
	}
	for i, member := range t.Spec.Members {
		where := fmt.Sprintf("spec.members[%d].external", i)
		if member.External == nil {
			complain("%s is missing: it says how the member is reached", where)
			continue
		}
		wrong = append(wrong, member.External.problems(where)...)
	}
	if t.Spec.External != nil {
		wrong = append(wrong, t.Spec.External.problems()...)
	}
	return append(wrong, t.driverProblems()...)
}

func (m *ExternalMember) problems(where string) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, where+fmt.Sprintf(format, args...)) }
	if m.File == "" {
		complain(".kubeconfig is missing: it leads to the member's own API server")
	}
	if m.Etcd == nil {
		return wrong
	}
	at, err := url.Parse(m.Etcd.Endpoint)
	switch {
	case err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http":
		complain(".etcd.endpoint %q is no URL such as https://10.0.0.1:2379", m.Etcd.Endpoint)
	case at.User != nil:
		complain(".etcd.endpoint must not hold a password; name a certificate")
	case at.Scheme == "https" && m.Etcd.CA == "":
		complain(".etcd.ca is missing")
	}
	if (m.Etcd.Cert == "") != (m.Etcd.Key == "") {
		complain(".etcd.cert and key go together")
	}
	return wrong
}

func (e *External) problems() (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for i, release := range e.Releases {
		if release == "" || slices.Contains(e.Releases[:i], release) {
			complain("spec.external.releases[%d] %q is empty or there twice", i, release)
		}
	}
	if wrong := addressProblem(e.Address); wrong != "" {
		complain("spec.external.address %q %s", e.Address, wrong)
	}
	if e.Traffic != nil {
		wrong = append(wrong, e.Traffic.problems()...)
	}
	if e.Faults != nil && e.Faults.Engine != EngineChaosMesh {
		complain("spec.external.faults.engine %q is none; %s is", e.Faults.Engine, EngineChaosMesh)
	}
	if e.Faults != nil && e.Faults.Namespace != "" && !isLabel(e.Faults.Namespace) {
		complain("spec.external.faults.namespace %q is no name of a namespace", e.Faults.Namespace)
	}
	if e.Balancer != nil && e.Balancer.File == "" {
		complain("spec.external.balancer.kubeconfig is missing")
	}
	return slices.Concat(wrong, e.hookProblems(), e.agentProblems())
}

// hookProblems is what is wrong with the hooks.
func (e *External) hookProblems() (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, name := range slices.Sorted(maps.Keys(e.Hooks)) {
		hook := e.Hooks[name]
		undone, known := hookUndoneBy[name]
		switch {
		case !known:
			complain("spec.external.hooks.%s is no hook; there are: %s", name, strings.Join(slices.Sorted(maps.Keys(hookUndoneBy)), ", "))
		case len(hook.Command) == 0 || hook.Command[0] == "":
			complain("spec.external.hooks.%s has no command", name)
		case hook.Timeout < 0:
			complain("spec.external.hooks.%s.timeout is negative", name)
		}
		// Of what a driver takes back, the provider knows.
		if _, there := e.Hooks[undone]; undone != "" && !there && e.Driver == "" {
			complain("spec.external.hooks.%s needs the hook %s, which takes back what it does", name, undone)
		}
	}
	return wrong
}

// addressProblem is what is wrong with the address by which API servers reach this
// machine. It becomes the externalName of a Service, for which an API server takes a DNS
// subdomain in lower case, such as an IPv4 address is, but no IPv6 address.
func addressProblem(address string) string {
	if address == "" {
		return ""
	}
	if ip, err := netip.ParseAddr(strings.Trim(address, "[]")); err == nil && ip.Is6() {
		return "is an IPv6 address, which a Service cannot name: give a host name that resolves to it"
	}
	if len(validation.IsDNS1123Subdomain(address)) > 0 {
		return "is no address or host name: give an IPv4 address, or a DNS name in lower case"
	}
	return ""
}

// hidden stands in a published topology for what is private to the user.
const hidden = "(not published)"

// Published is the topology as a bundle may hold it: of an external one nothing that
// leads to the cluster, and of its hooks the names only, whose commands may hold
// secrets.
func (t *Topology) Published() *Topology {
	if !t.ExternallyManaged() {
		return t
	}
	out := *t
	out.Spec.Members = nil
	for _, member := range t.Spec.Members {
		reached := &ExternalMember{Kubeconfig: Kubeconfig{File: hidden}}
		if member.External != nil && member.External.Etcd != nil {
			reached.Etcd = &EtcdAccess{Endpoint: hidden}
		}
		member.External = reached
		out.Spec.Members = append(out.Spec.Members, member)
	}
	if t.Spec.External == nil {
		return &out
	}
	external := &External{Releases: t.Spec.External.Releases, Hooks: map[string]Hook{}, Driver: t.Spec.External.Driver, Traffic: t.Spec.External.Traffic, PeerDiscovery: t.Spec.External.PeerDiscovery}
	if t.Spec.External.Faults != nil {
		external.Faults = &FaultEngine{Engine: t.Spec.External.Faults.Engine}
	}
	if t.Spec.External.Address != "" {
		external.Address = hidden
	}
	if t.Spec.External.Balancer != nil {
		external.Balancer = &Kubeconfig{File: hidden}
	}
	external.Agent = t.Spec.External.Agent
	if external.Agent != "" {
		external.AgentImage = hidden
	}
	if len(t.Spec.External.AgentTunnel) > 0 {
		external.AgentTunnel = []string{hidden}
	}
	for name, hook := range t.Spec.External.Hooks {
		external.Hooks[name] = Hook{Command: []string{hidden}, Timeout: hook.Timeout}
	}
	out.Spec.External = external
	return &out
}
