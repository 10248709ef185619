package link

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Proxy carries the connections of links to one server.
//
// It is our own rather than toxiproxy's because a fault must prove that it
// bit, and be repeatable: toxiproxy counts a connection's bytes only when the
// connection ends, loses the bytes of a cut connection so that TLS breaks when
// it heals (a real network retransmits them), and draws from the process-wide
// source of randomness whatever seed it is given.
type Proxy struct {
	listener net.Listener
	dial     Dialer
	// linksOf says to which links a connection from the address belongs.
	linksOf func(client net.Addr) []*Link

	ctx    context.Context
	cancel context.CancelFunc
	active sync.WaitGroup

	mu sync.Mutex
	// open ends each connection that there is.
	open map[net.Conn]context.CancelFunc
}

// Dialer reaches the server for which a client's connection is meant.
type Dialer func(ctx context.Context, client *net.TCPConn) (*net.TCPConn, error)

// To is a Dialer for a server of a fixed address.
func To(address string) Dialer {
	return func(ctx context.Context, _ *net.TCPConn) (*net.TCPConn, error) {
		dialed, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		return dialed.(*net.TCPConn), nil
	}
}

// NewProxy makes a proxy that carries nothing before Start.
func NewProxy(listener net.Listener, dial Dialer, linksOf func(net.Addr) []*Link) *Proxy {
	p := &Proxy{listener: listener, dial: dial, linksOf: linksOf, open: map[net.Conn]context.CancelFunc{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Start begins to carry what arrives at the listener.
func (p *Proxy) Start() { p.active.Go(p.accept) }

// Address is where clients reach the proxy.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// URL is the same as a URL.
func (p *Proxy) URL() string { return "https://" + p.Address() }

// Stop ends all connections and returns when nothing of the proxy runs.
func (p *Proxy) Stop() {
	p.cancel()
	p.listener.Close()
	p.active.Wait()
}

// Break ends the connections that there are, also those that have not come about
// yet; their clients can make new ones.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, end := range p.open {
		end()
	}
}

// keep remembers how a connection is ended while it is there.
func (p *Proxy) keep(client net.Conn, end context.CancelFunc) (forget func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[client] = end
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, client)
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			// Out of descriptors, most likely; the client hangs in the backlog
			// until some are free.
			select {
			case <-time.After(acceptPause):
			case <-p.ctx.Done():
				return
			}
		default:
			p.active.Go(func() { p.serve(client.(*net.TCPConn)) })
		}
	}
}

func (p *Proxy) serve(client *net.TCPConn) {
	defer client.Close()
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	defer p.keep(client, cancel)()
	links := p.linksOf(client.RemoteAddr())
	for _, link := range links {
		if !link.passConnection(ctx) {
			return
		}
	}
	dialing, dialed := context.WithTimeout(ctx, dialBound)
	server, err := p.dial(dialing, client)
	dialed()
	if err != nil {
		// No server listens: the client should see a reset, which is the nearest
		// to the refusal that it would have got without the proxy.
		_ = client.SetLinger(0) // the client may have gone
		return
	}
	defer server.Close()
	for _, link := range links {
		link.connections.Add(1)
	}

	// Whatever ends the connection, be it the proxy or a broken side, closes
	// both sockets, which ends the pumps wherever they wait.
	closing := context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	defer closing()
	var pumps sync.WaitGroup
	pumps.Go(func() { pump(ctx, cancel, links, cluster.ToServer, client, server) })
	pumps.Go(func() { pump(ctx, cancel, links, cluster.ToClient, server, client) })
	pumps.Wait()
}
