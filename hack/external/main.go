// Command external writes a topology of the provider external for a cluster that
// `evenkeel cluster up` has made. The topology holds only what the owner of a foreign
// cluster knows: how to reach its nodes. Use it as an example, and to try the provider.
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

func main() {
	name := flag.String("cluster", "", "name of a cluster that is up, see `evenkeel cluster list`")
	hooks := flag.String("hooks", "hack/external/node.sh", "the command of all hooks")
	address := flag.String("address", "", "an address by which API servers reach this machine (default localhost for local processes, and none for kind nodes)")
	releases := flag.String("releases", "", "releases that upgrade and rollback can take members to, oldest first, with commas between them")
	traffic := flag.Bool("traffic", false, "give the leave to write objects of Evenkeel's own, and to change those of the control plane")
	flag.Parse()
	if err := run(*name, *hooks, *address, *releases, *traffic); err != nil {
		fmt.Fprintln(os.Stderr, "external:", err)
		os.Exit(1)
	}
}

func run(name, hooks, address, releases string, traffic bool) error {
	record, err := find(name)
	if err != nil {
		return err
	}
	command, err := filepath.Abs(hooks)
	if err != nil {
		return err
	}
	topology, err := describe(record, command, address, releases, traffic)
	if err != nil {
		return err
	}
	out, err := yaml.Marshal(topology)
	if err != nil {
		return err
	}
	_, err = fmt.Printf("# The cluster %s as an external cluster, written by hack/external.\n%s", record.Name, out)
	return err
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

// describe is the topology of a cluster, whose hooks are one command. With traffic it gives the
// leave to write to the cluster.
func describe(record state.Record, command, address, releases string, traffic bool) (*cluster.Topology, error) {
	made, err := cluster.LoadTopology(record.File)
	if err != nil {
		return nil, err
	}
	owned, known := ownerships[record.Provider]
	if !known {
		return nil, fmt.Errorf("the cluster %s was made by the provider %s, of whose nodes hack/external knows nothing: add it to ownerships", record.Name, record.Provider)
	}
	access := &cluster.External{Address: cmp.Or(address, owned.address), Hooks: map[string]cluster.Hook{}}
	if traffic {
		access.Traffic = &cluster.TrafficLeave{ControlPlane: true}
	}
	if releases != "" {
		access.Releases = strings.Split(releases, ",")
	}
	line := append([]string{command}, owned.arguments(record)...)
	for _, hook := range owned.hooks {
		access.Hooks[hook] = cluster.Hook{Command: line}
	}
	out := &cluster.Topology{
		APIVersion: cluster.APIVersion, Kind: cluster.TopologyKind, Metadata: cluster.Metadata{Name: "external-" + record.Topology},
		Spec: cluster.Spec{Provider: external.Name, Distribution: made.Spec.Distribution, External: access},
	}
	for i, member := range record.Members {
		reached := &cluster.ExternalMember{Kubeconfig: cluster.Kubeconfig{File: record.Kubeconfig, Context: member.Name}, ServerID: member.ServerID}
		if owned.host != nil {
			reached.Host = owned.host(record, i)
		}
		out.Spec.Members = append(out.Spec.Members, cluster.MemberSpec{Name: member.Name, External: reached})
		if releases == "" && out.Spec.Release == "" {
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
