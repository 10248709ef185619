package local

import (
	"context"
	"fmt"
	"net"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/etcdproxy"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
)

// toEtcd makes the member's proxy of keys, and gives how connections on its link
// to etcd come there: straight, or through that proxy while there is a fault. So
// nothing is slower while there is none.
func (c *local) toEtcd(m *member) (link.Dialer, error) {
	listener, err := c.ports.Listen()
	if err != nil {
		return nil, err
	}
	// The certificates are those of an etcd and of an API server: neither end can
	// tell the difference.
	pair, err := c.ca.Issue(m.name+"-etcd-proxy", pki.Subject{Name: m.name, Server: true})
	if err != nil {
		return nil, fmt.Errorf("cannot write certificates: %w", err)
	}
	client, err := c.ca.ClientTLS(pair)
	if err != nil {
		return nil, err
	}
	server, err := c.ca.ServerTLS(pair)
	if err != nil {
		return nil, err
	}
	proxy, err := etcdproxy.New(etcdproxy.Config{Listener: listener, Etcd: m.site.etcdClient.Address, Server: server, Client: client})
	if err != nil {
		return nil, err
	}
	proxy.Start()
	m.site.keyProxy = proxy
	straight, through := link.To(m.site.etcdClient.Address), link.To(proxy.Address())
	return func(ctx context.Context, from *net.TCPConn) (*net.TCPConn, error) {
		if m.keyed.Load() {
			return through(ctx, from)
		}
		return straight(ctx, from)
	}, nil
}

// SetKeyFault implements cluster.EtcdKeyFaultInjector.
func (c *local) SetKeyFault(name string, fault cluster.KeyFault) error {
	if err := fault.Validate(); err != nil {
		return fmt.Errorf("cannot set a fault of keys at member %s: %w", name, err)
	}
	m, err := c.look(name)
	if err != nil {
		return err
	}
	m.site.keyProxy.Set(fault)
	if was := m.keyed.Swap(!fault.None()); !was && !fault.None() {
		m.site.etcdProxy.Break()
	}
	return nil
}

// KeyFaultStats implements cluster.EtcdKeyFaultInjector.
func (c *local) KeyFaultStats(name string) (cluster.KeyFaultStats, error) {
	m, err := c.look(name)
	if err != nil {
		return cluster.KeyFaultStats{}, err
	}
	return m.site.keyProxy.Stats(), nil
}
