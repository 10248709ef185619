package external

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent/install"
	"github.com/evenkeel/evenkeel/pkg/credential"
)

// variableAgentPort tells a tunnel at which port of the node's loopback its agent listens.
const variableAgentPort = "EVENKEEL_AGENT_PORT"

// Administrator implements agent.Host.
func (Provider) Administrator(topology *cluster.Topology, member cluster.MemberSpec) (*rest.Config, error) {
	return administrator(topology, member)
}

// Agents implements agent.Host.
func (Provider) Agents(topology *cluster.Topology, run string) (map[string]*agent.Client, []credential.Credential, error) {
	return agents(topology, run)
}

// administrator reaches the API server of a topology's member as an administrator.
func administrator(topology *cluster.Topology, member cluster.MemberSpec) (*rest.Config, error) {
	config, err := load(topology, member.External.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("member %s: %w", member.Name, err)
	}
	return config, nil
}

// agents makes clients of a run for the agents of all members of a topology, which it does
// not ask anything yet. It also gives the credentials that open the agents.
func agents(topology *cluster.Topology, run string) (map[string]*agent.Client, []credential.Credential, error) {
	secured, secrets, err := install.ClientTLS(install.KeysFolder(topology))
	if err != nil {
		return nil, nil, err
	}
	clients := map[string]*agent.Client{}
	for _, member := range topology.Spec.Members {
		dial, err := agentDialer(topology, member)
		if err != nil {
			return nil, nil, fmt.Errorf("member %s: %w", member.Name, err)
		}
		clients[member.Name] = agent.NewRemoteClient(member.Name, run, dial, secured)
	}
	return clients, secrets, nil
}

// agentDialer is the way to the agent of a member's node: by the topology's tunnel, or
// straight.
func agentDialer(topology *cluster.Topology, member cluster.MemberSpec) (agent.Dialer, error) {
	if tunnel := topology.Spec.External.AgentTunnel; len(tunnel) > 0 {
		folder, err := filepath.Abs(topology.Path("."))
		if err != nil {
			return nil, fmt.Errorf("find the topology's folder: %w", err)
		}
		host := member.External.Host
		if host == "" {
			host = member.Name
		}
		return agent.Tunnel(tunnel, folder, []string{
			variableMember + "=" + member.Name, variableHost + "=" + host, fmt.Sprintf("%s=%d", variableAgentPort, agent.Port),
		}), nil
	}
	if member.External.Address != "" {
		return agent.Direct(member.External.Address), nil
	}
	config, err := load(topology, member.External.Kubeconfig)
	if err != nil {
		return nil, err
	}
	server, err := url.Parse(config.Host)
	if err != nil || server.Hostname() == "" {
		return nil, errors.New("the kubeconfig names no host at which the agent could be reached: set external.address of the member, or spec.external.agentTunnel")
	}
	return agent.Direct(server.Hostname()), nil
}
