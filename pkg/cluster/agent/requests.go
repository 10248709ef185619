//go:build linux

package agent

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/etcdproxy"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
)

// requests makes two links understand what they carry, so that single requests
// can be hit. Nothing of it is in the way before the first fault.
type requests struct {
	keys Keys
	// etcdAddress and apiserverAddress are the member's servers, as host and port.
	etcdAddress, apiserverAddress string
	// dialer makes connections that are not redirected again.
	dialer *net.Dialer

	keyed atomic.Bool // whether requests to etcd go through its proxy

	mu sync.Mutex
	// toEtcd and toAPIServer are the links' proxies, of which connections are
	// broken when another way is taken.
	toEtcd, toAPIServer *link.Proxy
	etcd                *etcdproxy.Proxy
	interceptor         *link.Interceptor
}

// etcdDialer is the way of the link to etcd: straight, or through the proxy of
// keys while there is a fault.
func (q *requests) etcdDialer(straight link.Dialer) link.Dialer {
	return func(ctx context.Context, client *net.TCPConn) (*net.TCPConn, error) {
		if !q.keyed.Load() {
			return straight(ctx, client)
		}
		q.mu.Lock()
		address := q.etcd.Address()
		q.mu.Unlock()
		return link.To(address)(ctx, client)
	}
}

// apiserverDialer is the way of the link of components: straight, or through the
// interceptor once there is one.
func (q *requests) apiserverDialer(straight link.Dialer) link.Dialer {
	return func(ctx context.Context, client *net.TCPConn) (*net.TCPConn, error) {
		q.mu.Lock()
		interceptor := q.interceptor
		q.mu.Unlock()
		if interceptor == nil {
			return straight(ctx, client)
		}
		return link.To(interceptor.Address())(ctx, client)
	}
}

// setKeyFault sets what becomes of requests to etcd from now on.
func (q *requests) setKeyFault(fault cluster.KeyFault) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.etcd == nil {
		if fault.None() {
			return nil
		}
		server, client, err := q.keys.etcdTLS()
		if err != nil {
			return fmt.Errorf("cannot stand before etcd: %w", err)
		}
		listener, err := onLoopback()
		if err != nil {
			return err
		}
		q.etcd, err = etcdproxy.New(etcdproxy.Config{
			Listener: listener, Etcd: q.etcdAddress, Server: server, Client: client,
			Dial: func(ctx context.Context, address string) (net.Conn, error) {
				return q.dialer.DialContext(ctx, "tcp4", address)
			},
		})
		if err != nil {
			listener.Close()
			return err
		}
		q.etcd.Start()
	}
	q.etcd.Set(fault)
	if was := q.keyed.Swap(!fault.None()); !was && !fault.None() {
		q.toEtcd.Break()
	}
	return nil
}

func (q *requests) keyFaultStats() cluster.KeyFaultStats {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.etcd == nil {
		return cluster.KeyFaultStats{}
	}
	return q.etcd.Stats()
}

// faultHTTP has requests of a component hit until heal is called.
func (q *requests) faultHTTP(component cluster.Component, fault cluster.HTTPFault, observe func(cluster.HTTPExchange)) (heal func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	fresh := q.interceptor == nil
	if fresh {
		if q.interceptor, err = q.intercept(); err != nil {
			return nil, fmt.Errorf("cannot stand before the API server: %w", err)
		}
	}
	heal = q.interceptor.Fault(component, fault, observe)
	if fresh {
		q.toAPIServer.Break()
	}
	return heal, nil
}

func (q *requests) intercept() (*link.Interceptor, error) {
	serving, err := q.keys.APIServer.load()
	if err != nil {
		return nil, err
	}
	pool, err := authority(q.keys.Authority)
	if err != nil {
		return nil, err
	}
	identities, err := q.keys.identities()
	if err != nil {
		return nil, err
	}
	listener, err := onLoopback()
	if err != nil {
		return nil, err
	}
	made, err := link.NewInterceptor(link.InterceptorConfig{
		Listener: listener, Serving: serving, Authority: pool, Identities: identities,
		Address: q.apiserverAddress, Dial: q.dialer.DialContext,
	})
	if err != nil {
		listener.Close()
	}
	return made, err
}

// onLoopback listens where only this node can come.
func onLoopback() (net.Listener, error) { return net.Listen("tcp4", "127.0.0.1:0") }

func (q *requests) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.etcd != nil {
		q.etcd.Stop()
	}
	if q.interceptor != nil {
		q.interceptor.Stop()
	}
}
