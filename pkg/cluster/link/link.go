package link

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Link is one network path of a member: its shape, and what it has carried.
// Proxies move the bytes; a connection may belong to several links.
type Link struct {
	mu     sync.Mutex
	shape  cluster.Shape
	change chan struct{} // closed and replaced when shape changes
	random *rand.Rand

	connections, toServer, toClient, withheld, delayed atomic.Int64
}

// New makes a healthy link; its jitter follows from the seed and the name.
func New(seed int64, name string) *Link {
	// Each link has a stream of its own, so that what happens on one link does
	// not change the jitter of another.
	second := uint64(0)
	for _, letter := range []byte(name) {
		second = second*31 + uint64(letter)
	}
	//nolint:gosec // G115: any bits are a seed.
	return &Link{change: make(chan struct{}), random: rand.New(rand.NewPCG(uint64(seed), second))}
}

// Set shapes the link, for connections that exist as well.
func (l *Link) Set(shape cluster.Shape) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shape = shape
	close(l.change)
	l.change = make(chan struct{})
}

func (l *Link) get() (cluster.Shape, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shape, l.change
}

// draw gives a random number from 0 to 1 for one piece's jitter.
func (l *Link) draw() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.random.Float64()
}

// Stats is what the link has carried so far.
func (l *Link) Stats() cluster.LinkStats {
	return cluster.LinkStats{
		Connections:   l.connections.Load(),
		BytesToServer: l.toServer.Load(),
		BytesToClient: l.toClient.Load(),
		Withheld:      l.withheld.Load(),
		Delayed:       l.delayed.Load(),
	}
}

// count is for the caller that holds mu: what passed before a cut is in the figures that are read
// after it.
func (l *Link) count(direction cluster.Direction, bytes int) {
	if direction == cluster.ToServer {
		l.toServer.Add(int64(bytes))
	} else {
		l.toClient.Add(int64(bytes))
	}
}

// passConnection waits until a new connection may reach the server. A cut of
// one direction is enough to keep it from coming about: a handshake needs both.
func (l *Link) passConnection(ctx context.Context) bool {
	for first := true; ; first = false {
		shape, change := l.get()
		if !shape.Cut {
			return true
		}
		if first {
			l.withheld.Add(1)
		}
		select {
		case <-change:
		case <-ctx.Done():
			return false
		}
	}
}

// cuts is whether a shape lets nothing through in the direction.
func cuts(shape cluster.Shape, direction cluster.Direction) bool {
	return shape.Cut && (shape.Only == "" || shape.Only == direction)
}

// passAtOnce is whether a piece of so many bytes goes on without waiting.
func (l *Link) passAtOnce(direction cluster.Direction, bytes int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shape.Latency != 0 || l.shape.Jitter != 0 || cuts(l.shape, direction) {
		return false
	}
	l.count(direction, bytes)
	return true
}

// passUnless lets a piece go on, unless the shape that said so has changed since.
func (l *Link) passUnless(change <-chan struct{}, shape cluster.Shape, direction cluster.Direction, bytes int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if change != l.change {
		return false
	}
	l.count(direction, bytes)
	if shape.Latency > 0 {
		l.delayed.Add(1)
	}
	return true
}

// passPiece waits until a piece of so many bytes that came in at the time may go on.
// The shape is looked at again whenever it changes, so that healing a link
// frees what it holds at once.
func (l *Link) passPiece(ctx context.Context, direction cluster.Direction, bytes int, came time.Time, drawn float64) bool {
	counted := false
	for {
		shape, change := l.get()
		var due <-chan time.Time
		if cuts(shape, direction) {
			if !counted {
				l.withheld.Add(1)
				counted = true
			}
		} else {
			delay := shape.Latency + time.Duration(drawn*float64(shape.Jitter)) - time.Since(came)
			if delay <= 0 {
				if l.passUnless(change, shape, direction, bytes) {
					return true
				}
				continue
			}
			timer := time.NewTimer(delay)
			defer timer.Stop()
			due = timer.C
		}
		select {
		case <-due:
			// Looked at again, in case the shape has changed at that very moment.
		case <-change:
		case <-ctx.Done():
			return false
		}
	}
}
