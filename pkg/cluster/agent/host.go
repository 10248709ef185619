package agent

import (
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/credential"
)

// Host is a cluster.Provider onto whose nodes the agent can be put while its clusters run.
type Host interface {
	// Administrator reaches the API server of a topology's member as an administrator.
	Administrator(topology *cluster.Topology, member cluster.MemberSpec) (*rest.Config, error)
	// Agents makes clients of a run for the agents of all members of a topology, which it does
	// not ask anything yet. It also gives the credentials that open the agents.
	Agents(topology *cluster.Topology, run string) (map[string]*Client, []credential.Credential, error)
}
