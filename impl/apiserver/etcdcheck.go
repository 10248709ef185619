package apiserver

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

const (
	// etcdStartBound is how long a start waits for etcd: members of one etcd
	// that start together need a moment to elect a leader.
	etcdStartBound = 20 * time.Second
	// etcdTryBound is how long one attempt may take.
	etcdTryBound = 2 * time.Second
	// etcdRetry is the time between two attempts.
	etcdRetry = 200 * time.Millisecond
)

// waitForEtcd returns once etcd answers a linearizable read, which it can only
// do with a quorum. It gives up after etcdStartBound.
func waitForEtcd(ctx context.Context, o Options) error {
	files, err := transport.TLSInfo{CertFile: o.EtcdCertFile, KeyFile: o.EtcdKeyFile, TrustedCAFile: o.EtcdCAFile}.ClientConfig()
	if err != nil {
		return fmt.Errorf("read the TLS files for etcd: %w", err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: o.EtcdServers, TLS: files, Logger: zap.NewNop()})
	if err != nil {
		return fmt.Errorf("connect to etcd at %s: %w", strings.Join(o.EtcdServers, ", "), err)
	}
	defer client.Close()

	bound, cancel := context.WithTimeout(ctx, etcdStartBound)
	defer cancel()
	for {
		try, cancelTry := context.WithTimeout(bound, etcdTryBound)
		_, err := client.Get(try, etcdPrefix, clientv3.WithCountOnly())
		cancelTry()
		if err == nil {
			return nil
		}
		select {
		case <-bound.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("etcd at %s did not answer within %s: %w", strings.Join(o.EtcdServers, ", "), etcdStartBound, reason(o.EtcdServers[0], files, err))
		case <-time.After(etcdRetry):
		}
	}
}

// reason says why an endpoint does not answer. The etcd client knows only that
// it ran out of time, so the connection is tried by hand.
func reason(endpoint string, config *tls.Config, err error) error {
	address, parseErr := url.Parse(endpoint)
	if parseErr != nil {
		return parseErr
	}
	connection, dialErr := tls.DialWithDialer(&net.Dialer{Timeout: etcdTryBound}, "tcp", address.Host, config)
	if dialErr != nil {
		return dialErr
	}
	connection.Close()
	return fmt.Errorf("it accepts connections but has no quorum: %w", err)
}
