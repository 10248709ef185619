package local

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// proxy carries the connections of links to one server.
//
// It is our own rather than toxiproxy's because a fault must prove that it
// bit, and be repeatable: toxiproxy counts a connection's bytes only when the
// connection ends, loses the bytes of a cut connection so that TLS breaks when
// it heals (a real network retransmits them), and draws from the process-wide
// source of randomness whatever seed it is given.
type proxy struct {
	listener net.Listener
	upstream string
	// linksOf says to which links a connection from the address belongs.
	linksOf func(client net.Addr) []*link

	ctx    context.Context
	cancel context.CancelFunc
	active sync.WaitGroup
}

// newProxy makes a proxy that carries nothing before start.
func newProxy(listener net.Listener, upstream string, linksOf func(net.Addr) []*link) *proxy {
	p := &proxy{listener: listener, upstream: upstream, linksOf: linksOf}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// start begins to carry what arrives at the listener.
func (p *proxy) start() { p.active.Go(p.accept) }

// url is where clients reach the proxy.
func (p *proxy) url() string { return "https://" + p.listener.Addr().String() }

// stop ends all connections and returns when nothing of the proxy runs.
func (p *proxy) stop() {
	p.cancel()
	p.listener.Close()
	p.active.Wait()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			// Out of descriptors, most likely; the client hangs in the backlog
			// until some are free.
			select {
			case <-time.After(readyPoll):
			case <-p.ctx.Done():
				return
			}
		default:
			p.active.Go(func() { p.serve(client.(*net.TCPConn)) })
		}
	}
}

func (p *proxy) serve(client *net.TCPConn) {
	defer client.Close()
	links := p.linksOf(client.RemoteAddr())
	for _, link := range links {
		if !link.passConnection(p.ctx) {
			return
		}
	}
	dialer := net.Dialer{Timeout: dialBound}
	dialed, err := dialer.DialContext(p.ctx, "tcp", p.upstream)
	if err != nil {
		// Nobody listens: the client should see a reset, which is the nearest
		// to the refusal that it would have got without the proxy.
		client.SetLinger(0)
		return
	}
	server := dialed.(*net.TCPConn)
	defer server.Close()
	for _, link := range links {
		link.connections.Add(1)
	}

	// Whatever ends the connection, be it the proxy or a broken side, closes
	// both sockets, which ends the pumps wherever they wait.
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
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
func pump(ctx context.Context, cancel context.CancelFunc, links []*link, direction cluster.Direction, from, to *net.TCPConn) {
	queue := make(chan piece, linkQueue)
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

func takeIn(ctx context.Context, random *link, from *net.TCPConn, queue chan<- piece) {
	buffer := make([]byte, linkChunk)
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
