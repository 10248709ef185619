package local

import (
	"net"
	"path/filepath"
	"strconv"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
	refplane "github.com/evenkeel/evenkeel/pkg/cluster/reference"
)

// addAggregatedServer gives the member what its aggregated server needs, if it has one.
func (c *local) addAggregatedServer(m *member) error {
	u, ok := m.units[cluster.AggregatedServer]
	if !ok {
		return nil
	}
	s := m.site
	var err error
	if s.aggregated, err = port.New(&c.ports); err != nil {
		return err
	}
	u.slots = []*port.Slot{s.aggregated}
	if s.aggregatedPair, err = c.ca.Issue(m.name+"-aggregated-apiserver", pki.Subject{Name: "aggregated-apiserver-" + m.name, Server: true}); err != nil {
		return err
	}
	// It writes identity Leases and StorageVersions, as API servers do over their loopback.
	const user = "aggregated-apiserver"
	if s.aggregatedClient, err = c.ca.Issue(m.name+"-aggregated-apiserver-client", pki.Subject{Name: user, Organization: "system:masters"}); err != nil {
		return err
	}
	s.aggregatedKubeconfig = filepath.Join(s.dir, "aggregated-apiserver.kubeconfig")
	return pki.WriteKubeconfig(s.aggregatedKubeconfig, c.ca, user, s.aggregatedClient, pki.Endpoint{Name: m.name, URL: s.componentsProxy.URL()})
}

// balanceAggregated puts a load balancer before the aggregated servers, as a Service is
// before Pods: an APIService leads to one address.
func (c *local) balanceAggregated() error {
	if c.members[0].site.aggregated == nil {
		return nil
	}
	c.aggregated = &balancer{
		url:     func(m *member) string { return m.site.aggregated.URL() },
		address: func(m *member) string { return m.site.aggregated.Address },
		links:   func(*member) func(net.Addr) []*link.Link { return func(net.Addr) []*link.Link { return nil } },
	}
	return c.startBalancer(c.aggregated)
}

// Aggregated implements cluster.AggregatedHost.
func (c *local) Aggregated() (api cluster.AggregatedAPI, ok bool) {
	if c.aggregated == nil {
		return api, false
	}
	api = refplane.Aggregated
	host, number, err := net.SplitHostPort(c.aggregated.proxy.Address())
	if err != nil {
		return api, false
	}
	api.Host = host
	api.Port, err = strconv.Atoi(number)
	return api, err == nil
}
