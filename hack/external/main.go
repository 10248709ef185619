// Command external writes a topology of the provider external, for a cluster that
// `evenkeel cluster up` has made or for one of the program kind. The topology holds only
// what the owner of a foreign cluster knows: how to reach its nodes. Use it as an example,
// and to try the provider.
//
//	evenkeel cluster up --topology clusters/kind-3.yaml --name theirs
//	go run ./hack/external --cluster theirs > theirs.yaml
//	evenkeel run --topology theirs.yaml --scenario fixtures/scenarios/discovery-upgrade.yaml --allow-disruption
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/external"
	"github.com/evenkeel/evenkeel/pkg/cluster/kind"
	"github.com/evenkeel/evenkeel/pkg/cluster/local"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

// ownership is how the owner of a cluster knows and operates its nodes.
type ownership struct {
	// hooks are those that node.sh has for the nodes, and arguments what it is called with.
	hooks     []string
	arguments func(state.Record) []string
	// host is the host name of a member's node, by the member's index; nil where that is the
	// member's name.
	host func(record state.Record, place int) string
	// address is where API servers reach this machine unless --address says it; empty where they
	// do not.
	address string
}

// ownerships are those of the clusters of each provider.
var ownerships = map[string]ownership{
	kind.Name: {
		hooks: []string{
			cluster.HookUpgrade, cluster.HookRollback, cluster.HookStop, cluster.HookStart, cluster.HookKill, cluster.HookPause, cluster.HookResume,
			cluster.HookCutOff, cluster.HookReconnect, cluster.HookPowerOff, cluster.HookPowerOn,
		},
		arguments: func(state.Record) []string { return []string{"kind"} },
		host:      func(record state.Record, place int) string { return node(record.ID, place) },
	},
	local.Name: {
		hooks:     []string{cluster.HookKill, cluster.HookPause, cluster.HookResume},
		arguments: func(record state.Record) []string { return []string{"local", record.ID} },
		address:   "localhost",
	},
}

// request is what the owner of a cluster allows, and what the owner knows of it.
type request struct {
	// hooks is the command of all hooks.
	hooks string
	// address by which API servers reach this machine; empty means the one that follows from
	// where the cluster runs.
	address string
	// releases that hooks can take members to, oldest first.
	releases []string
	// begins is the release that runs begin with; empty means the one that members run.
	begins string
	// traffic is the leave to write, also to the control plane.
	traffic bool
	// agent and agentImage are as in the topology.
	agent, agentImage string
	// chaosMesh has Chaos Mesh inject faults.
	chaosMesh bool
}

// give puts what is allowed into a topology.
func (r request) give(access *cluster.External) {
	if r.traffic {
		access.Traffic = &cluster.TrafficLeave{ControlPlane: true}
	}
	access.Agent, access.AgentImage = cluster.Rung(r.agent), r.agentImage
	if r.chaosMesh {
		access.Faults = &cluster.FaultEngine{Engine: cluster.EngineChaosMesh}
	}
	if r.address != "" {
		access.Address = r.address
	}
}

func newTopology(name, distribution, begins string, access *cluster.External) *cluster.Topology {
	return &cluster.Topology{
		APIVersion: cluster.APIVersion, Kind: cluster.TopologyKind, Metadata: cluster.Metadata{Name: "external-" + name},
		Spec: cluster.Spec{Provider: external.Name, Distribution: distribution, Release: begins, External: access},
	}
}

func main() {
	var asked request
	// A library has put flags of its own into the set of the package flag.
	flags := flag.NewFlagSet("external", flag.ExitOnError)
	ours := flags.String("cluster", "", "name of a cluster that Evenkeel has made and that is up, see `evenkeel cluster list`")
	theirs := flags.String("kind", "", "name of a cluster that the program kind has made, see `kind get clusters`")
	kubeconfig := flags.String("kubeconfig", "", "with --kind, the file to write a context for each member to")
	members := flags.Int("kind-config", 0, "print what the program kind makes a cluster of so many members with, of the release --release")
	flags.StringVar(&asked.hooks, "hooks", "hack/external/node.sh", "the command of all hooks")
	flags.StringVar(&asked.address, "address", "", "an address by which API servers reach this machine (default: localhost for local processes, the gateway of the nodes with --kind, and none for kind nodes that Evenkeel has made)")
	releases := flags.String("releases", "", "releases that upgrade and rollback can take members to, oldest first, with commas between them")
	flags.StringVar(&asked.begins, "release", "", "the release that runs begin with, to which members are taken that run another one")
	flags.BoolVar(&asked.traffic, "traffic", false, "give the leave to write objects of Evenkeel's own, and to change those of the control plane")
	flags.StringVar(&asked.agent, "agent", "", "how much Evenkeel's agent may do on the nodes, look or disrupt (default: there is none)")
	flags.StringVar(&asked.agentImage, "agent-image", "", "the image that nodes run the agent from")
	flags.BoolVar(&asked.chaosMesh, "chaos-mesh", false, "leave faults to the Chaos Mesh of the cluster")
	_ = flags.Parse(os.Args[1:])
	if *releases != "" {
		asked.releases = strings.Split(*releases, ",")
	}
	var err error
	if *members > 0 {
		err = printKindConfig(*members, asked.begins)
	} else {
		err = run(*ours, *theirs, *kubeconfig, asked)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "external:", err)
		os.Exit(1)
	}
}

func printKindConfig(members int, release string) error {
	out, err := kindConfig(release, members)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(out)
	return err
}

func run(ours, theirs, kubeconfig string, asked request) error {
	if (ours == "") == (theirs == "") {
		return errors.New("name the cluster, with either --cluster or --kind")
	}
	if (theirs == "") != (kubeconfig == "") {
		return errors.New("--kind and --kubeconfig go together")
	}
	command, err := filepath.Abs(asked.hooks)
	if err != nil {
		return err
	}
	var topology *cluster.Topology
	if ours != "" {
		topology, err = describeOurs(ours, command, asked)
	} else {
		topology, err = describeTheirs(theirs, kubeconfig, command, asked)
	}
	if err != nil {
		return err
	}
	out, err := yaml.Marshal(topology)
	if err != nil {
		return err
	}
	_, err = fmt.Printf("# The cluster %s as an external cluster, written by hack/external.\n%s", cmp.Or(ours, theirs), out)
	return err
}

func describeOurs(name, command string, asked request) (*cluster.Topology, error) {
	record, err := find(name)
	if err != nil {
		return nil, err
	}
	return describe(record, command, asked)
}

// describeTheirs also writes the kubeconfig that the topology names.
func describeTheirs(name, kubeconfig, command string, asked request) (*cluster.Topology, error) {
	found, err := findKind(name)
	if err != nil {
		return nil, err
	}
	if kubeconfig, err = filepath.Abs(kubeconfig); err != nil {
		return nil, err
	}
	if err := found.contexts(kubeconfig); err != nil {
		return nil, err
	}
	return found.topology(kubeconfig, command, asked)
}

func find(name string) (state.Record, error) {
	root, err := state.Root()
	if err != nil {
		return state.Record{}, err
	}
	// A folder that is no cluster's does not hide the others.
	entries, err := state.List(root)
	for _, entry := range entries {
		if record := entry.Record(); record.Name == name && record.Owner.Alive() {
			return record, nil
		}
	}
	return state.Record{}, errors.Join(fmt.Errorf("no cluster %q is up; name one of `evenkeel cluster list` with --cluster", name), err)
}

// describe is the topology of a cluster that Evenkeel has made, whose hooks are one command.
func describe(record state.Record, command string, asked request) (*cluster.Topology, error) {
	made, err := cluster.LoadTopology(record.File)
	if err != nil {
		return nil, err
	}
	owned, known := ownerships[record.Provider]
	if !known {
		return nil, fmt.Errorf("the cluster %s was made by the provider %s, of whose nodes hack/external knows nothing: add it to ownerships", record.Name, record.Provider)
	}
	access := &cluster.External{Address: owned.address, Releases: asked.releases, Hooks: map[string]cluster.Hook{}}
	asked.give(access)
	line := append([]string{command}, owned.arguments(record)...)
	for _, hook := range owned.hooks {
		access.Hooks[hook] = cluster.Hook{Command: line}
	}
	out := newTopology(record.Topology, made.Spec.Distribution, asked.begins, access)
	for i, member := range record.Members {
		reached := &cluster.ExternalMember{Kubeconfig: cluster.Kubeconfig{File: record.Kubeconfig, Context: member.Name}, ServerID: member.ServerID}
		if owned.host != nil {
			reached.Host = owned.host(record, i)
		}
		out.Spec.Members = append(out.Spec.Members, cluster.MemberSpec{Name: member.Name, External: reached})
		if len(asked.releases) == 0 && out.Spec.Release == "" {
			out.Spec.Release = member.Release
		}
	}
	if len(out.Spec.Members) == 0 {
		return nil, errors.New("the cluster has no members yet")
	}
	return out, out.Validate()
}

// node returns kind's name for the node of a member, by the member's index.
func node(id string, place int) string {
	name := id + "-control-plane"
	if place > 0 {
		name += fmt.Sprint(place + 1)
	}
	return name
}
