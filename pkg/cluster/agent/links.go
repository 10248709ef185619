//go:build linux

package agent

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
)

// links are the member's links that lead through its node.
type links struct {
	byName  map[cluster.Link]*link.Link
	proxies []*link.Proxy
	gateway netip.Addr
	// requests is what the links understand of what they carry.
	requests *requests

	mu      sync.Mutex
	severed bool
	// before counts the packets that earlier severances dropped: the kernel's
	// counters go with the rules.
	before int64
}

// openLinks begins to carry the links.
func openLinks(ctx context.Context, config Config) (*links, error) {
	address, gateway, err := addresses()
	if err != nil {
		return nil, err
	}
	l := &links{byName: map[cluster.Link]*link.Link{}, gateway: gateway}
	for _, name := range []cluster.Link{cluster.LinkEtcd, cluster.LinkPeer, cluster.LinkComponents} {
		l.byName[name] = link.New(config.Seed, config.Member+"/"+string(name))
	}
	onward := &net.Dialer{Control: marked}
	l.requests = &requests{
		keys: config.Keys, etcdAddress: port.Address(etcdPort), apiserverAddress: netip.AddrPortFrom(address, apiserverPort).String(),
		dialer: &net.Dialer{Control: marked, Timeout: dialBound},
	}
	// etcd compares the address of a peer with those in the peer's certificate,
	// and kubeadm's all have the loopback's.
	inward := &net.Dialer{Control: marked, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}
	for _, one := range []struct {
		port int
		link cluster.Link
		dial link.Dialer
		// keep is where to remember the proxy.
		keep **link.Proxy
	}{
		{etcdProxyPort, cluster.LinkEtcd, l.requests.etcdDialer(redirected(onward)), &l.requests.toEtcd},
		{componentsPort, cluster.LinkComponents, l.requests.apiserverDialer(redirected(onward)), &l.requests.toAPIServer},
		{peerOutPort, cluster.LinkPeer, redirected(onward), new(*link.Proxy)},
		{peerInPort, cluster.LinkPeer, redirected(inward), new(*link.Proxy)},
	} {
		listener, err := net.Listen("tcp4", ":"+strconv.Itoa(one.port))
		if err != nil {
			l.close()
			return nil, err
		}
		carried := []*link.Link{l.byName[one.link]}
		proxy := link.NewProxy(listener, one.dial, func(net.Addr) []*link.Link { return carried })
		*one.keep = proxy
		proxy.Start()
		l.proxies = append(l.proxies, proxy)
	}
	for _, rule := range rules(address) {
		if _, err := filter(ctx, rule...); err != nil {
			l.close()
			return nil, err
		}
	}
	return l, nil
}

func (l *links) close() {
	for _, proxy := range l.proxies {
		proxy.Stop()
	}
	l.requests.close()
}

// redirected dials where the connection was meant to go.
func redirected(dialer *net.Dialer) link.Dialer {
	return func(ctx context.Context, client *net.TCPConn) (*net.TCPConn, error) {
		meant, err := originalDestination(client)
		if err != nil {
			return nil, err
		}
		dialed, err := dialer.DialContext(ctx, "tcp4", meant.String())
		if err != nil {
			return nil, err
		}
		return dialed.(*net.TCPConn), nil
	}
}

// set shapes a link. The whole node can only be cut off, or not.
func (l *links) set(ctx context.Context, name cluster.Link, shape cluster.Shape) error {
	if name == cluster.LinkNode {
		if shape.Latency != 0 || shape.Jitter != 0 || shape.Only != "" {
			return fmt.Errorf("a node can be cut off in both directions, and not slowed down: %w", cluster.ErrUnsupported)
		}
		return l.sever(ctx, shape.Cut)
	}
	found, ok := l.byName[name]
	if !ok {
		return fmt.Errorf("there is no link %q: %w", name, cluster.ErrUnsupported)
	}
	found.Set(shape)
	return nil
}

func (l *links) sever(ctx context.Context, cut bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cut == l.severed {
		return nil
	}
	action := "-I"
	if !cut {
		action = "-D"
		count, err := dropped(ctx)
		if err != nil {
			return err
		}
		l.before += count
	}
	for _, rule := range severance(l.gateway) {
		if _, err := filter(ctx, append([]string{action}, rule...)...); err != nil {
			if cut {
				l.mend(context.WithoutCancel(ctx))
			}
			return err
		}
	}
	l.severed = cut
	return nil
}

// mend takes away what a severance that failed half way has left.
func (l *links) mend(ctx context.Context) {
	for _, rule := range severance(l.gateway) {
		_, _ = filter(ctx, append([]string{"-D"}, rule...)...)
	}
}

func (l *links) stats(ctx context.Context, name cluster.Link) (cluster.LinkStats, error) {
	if name == cluster.LinkNode {
		l.mu.Lock()
		defer l.mu.Unlock()
		count := int64(0)
		if l.severed {
			var err error
			if count, err = dropped(ctx); err != nil {
				return cluster.LinkStats{}, err
			}
		}
		return cluster.LinkStats{Withheld: l.before + count}, nil
	}
	found, ok := l.byName[name]
	if !ok {
		return cluster.LinkStats{}, fmt.Errorf("there is no link %q: %w", name, cluster.ErrUnsupported)
	}
	return found.Stats(), nil
}
