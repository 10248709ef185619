package etcdproxy

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// gate lets requests pass, or not.
type gate struct {
	mu     sync.Mutex
	fault  cluster.KeyFault
	change chan struct{} // closed and replaced when fault changes

	passed, met atomic.Int64
}

func newGate() *gate { return &gate{change: make(chan struct{})} }

func (g *gate) set(fault cluster.KeyFault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault = fault
	close(g.change)
	g.change = make(chan struct{})
}

func (g *gate) get() (cluster.KeyFault, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fault, g.change
}

// pass waits until a request may go on, or gives the error to answer it with.
func (g *gate) pass(ctx context.Context, request cluster.KeyRequest, payload []byte) error {
	var spans []span
	for counted := false; ; {
		fault, change := g.get()
		if !slices.Contains(fault.Requests, request) {
			g.count(counted)
			return nil
		}
		if spans == nil {
			spans = spansOf(request, payload)
		}
		if !meetAny(spans, fault.Prefixes) {
			g.count(counted)
			return nil
		}
		if !counted {
			g.met.Add(1)
			counted = true
		}
		if fault.Fail {
			return status.Error(codes.Unavailable, "the harness fails requests about these keys")
		}
		select {
		case <-change:
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
}

func (g *gate) count(met bool) {
	if !met {
		g.passed.Add(1)
	}
}

func meetAny(spans []span, prefixes []string) bool {
	return slices.ContainsFunc(spans, func(s span) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return s.meets([]byte(prefix)) })
	})
}
