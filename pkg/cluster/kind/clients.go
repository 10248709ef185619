//go:build linux

package kind

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
)

// unthrottled is the QPS by which client-go is told not to hold requests back:
// a recorder wants to know when the server answers, not when the client asks.
const unthrottled = -1

// ClientConfig implements cluster.Cluster.
func (c *kindCluster) ClientConfig(name string, faulty bool) (*rest.Config, error) {
	m, err := c.look(name)
	if err != nil {
		return nil, err
	}
	if faulty {
		return c.clientOf(m.proxy.URL()), nil
	}
	config := c.clientOf(local(m.apiserver))
	config.Dial = m.dial
	return config, nil
}

// dial reaches the member's API server at its node's own address. The published
// port leads there too, for users; but what publishes it takes connections
// itself, so that a client that comes that way cannot tell a server that breaks
// connections from one that is not there.
func (m *member) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	m.mu.Lock()
	address := m.address
	if m.off {
		address = ""
	}
	m.mu.Unlock()
	if address == "" {
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	dialer := net.Dialer{Timeout: dialBound}
	return dialer.DialContext(ctx, network, net.JoinHostPort(address, strconv.Itoa(apiserverPort)))
}

// BalancerConfig implements cluster.LoadBalanced; ok is false where there is only
// one member.
func (c *kindCluster) BalancerConfig() (config *rest.Config, ok bool) {
	if c.balancer == 0 {
		return nil, false
	}
	return c.clientOf(local(c.balancer)), true
}

func (c *kindCluster) clientOf(host string) *rest.Config {
	return &rest.Config{
		Host: host,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.authority.PEM(), CertData: c.admin.CertPEM, KeyData: c.admin.KeyPEM,
		},
		QPS: unthrottled,
	}
}

// EtcdConfig implements cluster.Cluster.
func (c *kindCluster) EtcdConfig(name string) (clientv3.Config, error) {
	m, err := c.look(name)
	if err != nil {
		return clientv3.Config{}, err
	}
	config, err := c.etcdAuthority.ClientTLS(c.etcdClient)
	if err != nil {
		return clientv3.Config{}, err
	}
	return clientv3.Config{
		Endpoints: []string{local(m.etcd)}, TLS: config, DialTimeout: dialBound,
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(m.dialEtcd)},
		// The library's own log would go to the terminal.
		Logger: zap.NewNop(),
	}, nil
}

// openClientLink begins to carry what comes over the member's client link.
func (m *member) openClientLink(listener net.Listener) {
	carried := []*link.Link{m.client, m.outside}
	reach := func(ctx context.Context, _ *net.TCPConn) (*net.TCPConn, error) {
		dialed, err := m.dial(ctx, "tcp", "")
		if err != nil {
			return nil, err
		}
		return dialed.(*net.TCPConn), nil
	}
	m.proxy = link.NewProxy(listener, reach, func(net.Addr) []*link.Link { return carried })
	m.proxy.Start()
}

// sum is what two parts of one link have carried together.
func sum(one, other cluster.LinkStats) cluster.LinkStats {
	return cluster.LinkStats{
		Connections:   one.Connections + other.Connections,
		BytesToServer: one.BytesToServer + other.BytesToServer,
		BytesToClient: one.BytesToClient + other.BytesToClient,
		Withheld:      one.Withheld + other.Withheld,
		Delayed:       one.Delayed + other.Delayed,
	}
}

// SetLink implements cluster.Cluster.
func (c *kindCluster) SetLink(ctx context.Context, name string, which cluster.Link, shape cluster.Shape) error {
	if err := shape.Validate(); err != nil {
		return fmt.Errorf("cannot shape link %s of member %s: %w", which, name, err)
	}
	m, err := c.look(name)
	if err != nil {
		return err
	}
	if which == cluster.LinkClient {
		m.client.Set(shape)
		return nil
	}
	if err := m.agent.SetLink(ctx, which, shape); err != nil {
		return fmt.Errorf("cannot shape link %s of member %s: %w", which, name, err)
	}
	if which == cluster.LinkNode {
		m.outside.Set(shape)
	}
	return nil
}

// LinkStats implements cluster.Cluster.
func (c *kindCluster) LinkStats(name string, which cluster.Link) (cluster.LinkStats, error) {
	m, err := c.look(name)
	if err != nil {
		return cluster.LinkStats{}, err
	}
	if which == cluster.LinkClient {
		return m.client.Stats(), nil
	}
	stats, err := m.agent.LinkStats(c.life, which)
	if err == nil && which == cluster.LinkNode {
		stats = sum(stats, m.outside.Stats())
	}
	return stats, err
}
