package link

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// piece is data under way; without bytes it is the end of the stream.
type piece struct {
	bytes []byte
	came  time.Time
	drawn float64
	// passed is how many of the links have let it through.
	passed int
	// err is why the stream ended; io.EOF is the regular way.
	err error
}

// pump moves one direction of a connection until it ends.
//
// While nothing keeps them, pieces go straight on: a member's processes talk all the
// time, and to hand each piece from one goroutine to another one costs more than to
// carry it. Once a piece has to wait, another goroutine hands it on and all that come
// behind it, so that latency delays pieces without keeping later ones from being taken
// in.
func pump(ctx context.Context, cancel context.CancelFunc, links []*Link, direction cluster.Direction, from, to *net.TCPConn) {
	p := &pumping{ctx: ctx, cancel: cancel, links: links, direction: direction, to: to, queue: make(chan piece, queueLength)}
	defer p.waiting.Wait()
	defer close(p.queue)
	buffer := make([]byte, chunk)
	for {
		count, err := from.Read(buffer)
		if count > 0 && !p.take(piece{bytes: buffer[:count]}) {
			return
		}
		if err != nil {
			p.take(piece{err: err})
			return
		}
	}
}

type pumping struct {
	ctx       context.Context
	cancel    context.CancelFunc
	links     []*Link
	direction cluster.Direction
	to        *net.TCPConn

	// queue has the pieces that wait, and behind counts them until they are handed on.
	queue   chan piece
	behind  atomic.Int64
	begun   bool
	waiting sync.WaitGroup
}

// take hands a piece on, or has it wait; it is false when nothing can follow it.
func (p *pumping) take(next piece) bool {
	if p.behind.Load() == 0 {
		for next.passed < len(p.links) && p.links[next.passed].passAtOnce(p.direction, len(next.bytes)) {
			next.passed++
		}
		if next.passed == len(p.links) {
			return p.deliver(next)
		}
	}
	if !p.begun {
		p.begun = true
		p.waiting.Go(p.handOn)
	}
	next.bytes = bytes.Clone(next.bytes)
	next.came, next.drawn = time.Now(), p.links[0].draw()
	p.behind.Add(1)
	select {
	case p.queue <- next:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// handOn hands on what waits, in its order.
func (p *pumping) handOn() {
	for next := range p.queue {
		for _, link := range p.links[next.passed:] {
			if !link.passPiece(p.ctx, p.direction, len(next.bytes), next.came, next.drawn) {
				return
			}
		}
		if !p.deliver(next) {
			return
		}
		p.behind.Add(-1)
	}
}

// deliver writes a piece; it is false when nothing can follow it.
func (p *pumping) deliver(next piece) bool {
	if next.err != nil {
		// A regular end closes one direction only: the other side may still have
		// something to say.
		if !errors.Is(next.err, io.EOF) || p.to.CloseWrite() != nil {
			p.cancel()
		}
		return false
	}
	if _, err := p.to.Write(next.bytes); err != nil {
		p.cancel()
		return false
	}
	return true
}
