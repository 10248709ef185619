package external

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// EtcdConfig implements cluster.Cluster.
func (c *external) EtcdConfig(name string) (clientv3.Config, error) {
	m, ok := c.byName[name]
	if !ok {
		return clientv3.Config{}, fmt.Errorf("the cluster has no member %q", name)
	}
	if config, ok := m.throughAgent(); ok && m.etcd == nil {
		return config, nil
	}
	if m.etcd == nil {
		return clientv3.Config{}, fmt.Errorf("the topology names no etcd of %s that may be read: %w", name, cluster.ErrUnsupported)
	}
	secured, err := etcdTLS(m.etcd)
	if err != nil {
		return clientv3.Config{}, fmt.Errorf("the etcd of %s: %w", name, err)
	}
	return clientv3.Config{
		Endpoints: []string{m.etcd.Endpoint}, TLS: secured, DialTimeout: dialBound,
		// The library's own log would go to the terminal.
		Logger: zap.NewNop(),
	}, nil
}

// etcdTLS reads the certificates; it is nil where none are named, as for plain HTTP.
func etcdTLS(access *cluster.EtcdAccess) (*tls.Config, error) {
	if access.CA == "" {
		return nil, nil
	}
	authority, err := os.ReadFile(access.CA)
	if err != nil {
		return nil, fmt.Errorf("its CA cannot be read: %w", err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	if !config.RootCAs.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%s holds no certificate", access.CA)
	}
	if access.Cert == "" {
		return config, nil
	}
	pair, err := tls.LoadX509KeyPair(access.Cert, access.Key)
	if err != nil {
		return nil, fmt.Errorf("its client certificate cannot be read: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}
