package fakerun

import (
	"context"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Provider stands in for the local provider while a campaign is planned: it has the releases of
// the reference, and makes clusters that can play what every cluster of Evenkeel can. Nothing
// runs in them.
type Provider struct{ cluster.Provider }

// Name implements cluster.Provider.
func (Provider) Name() string { return "local" }

// Releases implements cluster.Provider.
func (Provider) Releases(context.Context, string) ([]string, error) { return releases, nil }

// Defects implements cluster.Provider.
func (Provider) Defects(context.Context, string) ([]cluster.Defect, error) {
	return []cluster.Defect{{ID: "SV-06-x", Requirement: Judges}}, nil
}

// New implements cluster.Provider.
func (Provider) New(_ context.Context, topology *cluster.Topology, _ cluster.Options) (cluster.Cluster, error) {
	return &idle{topology: topology}, nil
}

var releases = []string{"1.0", "1.1", "1.2", "1.3"}

// idle is a cluster that is never started.
type idle struct {
	cluster.Cluster
	topology *cluster.Topology
}

// Members implements cluster.Cluster.
func (c *idle) Members() []cluster.Member {
	var all []cluster.Member
	for _, m := range c.topology.Spec.Members {
		all = append(all, cluster.Member{Name: m.Name, Host: m.Name, ServerID: "apiserver-" + m.Name, Components: []cluster.Component{cluster.Etcd, cluster.APIServer, cluster.ControllerManager}})
	}
	return all
}

// Releases implements cluster.Cluster.
func (*idle) Releases() []string { return releases }

// Release implements cluster.Cluster.
func (c *idle) Release(member string) string {
	for _, m := range c.topology.Spec.Members {
		if m.Name == member {
			return c.topology.ReleaseOf(m)
		}
	}
	return ""
}

// Stop implements cluster.Cluster.
func (*idle) Stop(context.Context) error { return nil }
