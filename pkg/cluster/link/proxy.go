package link

import (
	"context"
	"errors"
	"io"
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

// URL is where clients reach the proxy.
func (p *Proxy) URL() string { return "https://" + p.listener.Addr().String() }

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
		// Nobody listens: the client should see a reset, which is the nearest
		// to the refusal that it would have got without the proxy.
		client.SetLinger(0)
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

// piece is data under way; without bytes it is the end of the stream.
type piece struct {
	bytes []byte
	came  time.Time
	drawn float64
	// err is why the stream ended; io.EOF is the regular way.
	err error
}

// pump moves one direction of a connection. Reading and writing are apart, so
// that latency delays pieces without keeping later ones from being taken in.
func pump(ctx context.Context, cancel context.CancelFunc, links []*Link, direction cluster.Direction, from, to *net.TCPConn) {
	queue := make(chan piece, queueLength)
	var reader sync.WaitGroup
	defer reader.Wait()
	reader.Go(func() { takeIn(ctx, links[0], from, queue) })

	for {
		var next piece
		select {
		case next = <-queue:
		case <-ctx.Done():
			return
		}
		for _, link := range links {
			if !link.passPiece(ctx, direction, next.came, next.drawn) {
				return
			}
		}
		if next.err != nil {
			// A regular end closes one direction only: the other side may
			// still have something to say.
			if !errors.Is(next.err, io.EOF) || to.CloseWrite() != nil {
				cancel()
			}
			return
		}
		if _, err := to.Write(next.bytes); err != nil {
			cancel()
			return
		}
		for _, link := range links {
			link.count(direction, len(next.bytes))
		}
	}
}

func takeIn(ctx context.Context, random *Link, from *net.TCPConn, queue chan<- piece) {
	buffer := make([]byte, chunk)
	for {
		count, err := from.Read(buffer)
		for _, taken := range []piece{{bytes: buffer[:count]}, {err: err}} {
			if len(taken.bytes) == 0 && taken.err == nil {
				continue
			}
			taken.bytes = append([]byte(nil), taken.bytes...)
			taken.came, taken.drawn = time.Now(), random.draw()
			select {
			case queue <- taken:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}
