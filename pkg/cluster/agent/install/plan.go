//go:build linux

// Package install puts Evenkeel's node agent on the control-plane nodes of an external
// cluster, and takes it away again: the objects of the API, typed, and the keys by which
// harness and agents know each other.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
	"github.com/evenkeel/evenkeel/pkg/cluster/reference"
)

// Name is that of every object that an installation consists of, and of its namespace.
const Name = "evenkeel-agent"

// Lifetime is how long an installed agent listens unless its user says otherwise.
const Lifetime = 24 * time.Hour

// etcdPort is where etcd listens on the node's loopback.
const etcdPort = 2379

// Plan is an installation.
type Plan struct {
	Rung       cluster.Rung
	Image      string
	Paths      cluster.AgentPaths
	Components []agent.Component
	// Expires is when the agents stop listening for good.
	Expires time.Time
	// Keys are those of the run; nil where only the form of an installation is wanted.
	Keys *Keys
}

// NewPlan plans what a topology asks for.
func NewPlan(topology *cluster.Topology, expires time.Time) (Plan, error) {
	if topology.Spec.External == nil || topology.Spec.External.Agent == "" {
		return Plan{}, fmt.Errorf("%s asks for no agent: set spec.external.agent to %s or %s, and spec.external.agentImage", topology.File, cluster.RungLook, cluster.RungDisrupt)
	}
	asked := topology.Spec.External
	components, err := Components(topology.Spec.Distribution)
	if err != nil {
		return Plan{}, fmt.Errorf("%s: %w", topology.File, err)
	}
	return Plan{Rung: asked.Agent, Image: asked.AgentImage, Paths: asked.NodePaths(), Components: components, Expires: expires.UTC().Truncate(time.Second)}, nil
}

// Components are how the agent recognizes what a distribution runs.
func Components(distribution string) ([]agent.Component, error) {
	switch distribution {
	case cluster.ForeignDistribution:
		return agent.Kubernetes(), nil
	case reference.Name:
		return agent.Reference(), nil
	}
	return nil, fmt.Errorf("the agent does not know the programs of the distribution %q: it knows %s and %s", distribution, cluster.ForeignDistribution, reference.Name)
}

// Where the container has what it is given of the node.
const (
	keysFolder      = "/etc/evenkeel-agent"
	configFolder    = "/etc/evenkeel-agent-config"
	manifestsFolder = "/node/manifests"
	logsFolder      = "/node/logs"
	etcdFolder      = "/node/etcd"
)

// hostLogs is where the kubelet has the logs of all containers.
const hostLogs = "/var/log/pods"

// installed is what the agents are told.
func (p Plan) installed() agent.Installed {
	out := agent.Installed{
		Rung: p.Rung, Port: agent.Port, Manifests: manifestsFolder, Logs: logsFolder, Components: p.Components, Expires: p.Expires,
	}
	if p.Paths.ReadsEtcd() {
		out.Etcd = &agent.EtcdAccess{
			Endpoint: "https://" + port.Address(etcdPort), CA: etcdFolder + "/ca.crt", Cert: etcdFolder + "/client.crt", Key: etcdFolder + "/client.key",
		}
	}
	return out
}

func (p Plan) configuration() (string, error) {
	if p.Rung != cluster.RungLook && p.Rung != cluster.RungDisrupt {
		return "", errors.New("the plan has no rung")
	}
	raw, err := json.MarshalIndent(p.installed(), "", "  ")
	return string(raw) + "\n", err
}
