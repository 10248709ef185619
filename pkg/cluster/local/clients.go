package local

import (
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/client-go/rest"
)

// unthrottled is the QPS by which client-go is told not to hold requests back:
// a recorder wants to know when the server answers, not when the client asks.
const unthrottled = -1

// ClientConfig implements cluster.Cluster.
func (c *local) ClientConfig(name string, faulty bool) (*rest.Config, error) {
	m, err := c.look(name)
	if err != nil {
		return nil, err
	}
	host := m.site.apiserver.URL()
	if faulty {
		host = m.site.clientProxy.URL()
	}
	return c.clientOf(host), nil
}

// clientOf reaches an address as the administrator.
func (c *local) clientOf(host string) *rest.Config {
	return &rest.Config{
		Host: host,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.ca.PEM(), CertData: c.admin.CertPEM, KeyData: c.admin.KeyPEM,
		},
		QPS: unthrottled,
	}
}

// EtcdConfig implements cluster.Cluster.
func (c *local) EtcdConfig(name string) (clientv3.Config, error) {
	m, err := c.look(name)
	if err != nil {
		return clientv3.Config{}, err
	}
	config, err := c.ca.ClientTLS(c.admin)
	if err != nil {
		return clientv3.Config{}, err
	}
	return clientv3.Config{
		Endpoints:   []string{m.site.etcdClient.URL()},
		TLS:         config,
		DialTimeout: dialBound,
		// The library's own log would go to the terminal.
		Logger: zap.NewNop(),
	}, nil
}
