//go:build linux

package kind

import (
	"context"
	"net"
	"os"
	"sync"
	"syscall"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
)

// etcdClients are the connections of the harness to a member's etcd. An etcd that
// is told to end waits seven seconds for clients that watch it, and the recorder
// always does: no rollout has such a client, so it leaves first.
type etcdClients struct {
	mu   sync.Mutex
	open map[*etcdConnection]struct{}
}

// etcdConnection leaves its list when it is closed.
type etcdConnection struct {
	net.Conn
	list *etcdClients
}

func (c *etcdConnection) Close() error {
	c.list.mu.Lock()
	delete(c.list.open, c)
	c.list.mu.Unlock()
	return c.Conn.Close()
}

// dialEtcd connects to the member's etcd, unless that was taken away on purpose.
func (m *member) dialEtcd(ctx context.Context, _ string) (net.Conn, error) {
	if m.isAway(cluster.Etcd) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	dialer := net.Dialer{Timeout: dialBound}
	dialed, err := dialer.DialContext(ctx, "tcp", port.Address(m.etcd))
	if err != nil {
		return nil, err
	}
	return m.etcdClients.add(dialed), nil
}

func (e *etcdClients) add(dialed net.Conn) net.Conn {
	c := &etcdConnection{Conn: dialed, list: e}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		e.open = map[*etcdConnection]struct{}{}
	}
	e.open[c] = struct{}{}
	return c
}

// leave closes all connections.
func (e *etcdClients) leave() {
	e.mu.Lock()
	open := e.open
	e.open = nil
	e.mu.Unlock()
	for c := range open {
		// It is closed for good, whatever the other end says.
		_ = c.Conn.Close()
	}
}
