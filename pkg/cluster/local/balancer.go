package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
)

// balancer is a load balancer before servers of the members, as users put one there: it gives
// each connection to the next member whose server was ready as it asked last, and to another
// one where that one refuses it.
type balancer struct {
	members []*member
	// url is that of a member's server as it is asked whether it is ready, address where it
	// listens, and links are those that connections to it go over.
	url     func(*member) string
	address func(*member) string
	links   func(*member) func(net.Addr) []*link.Link
	client  *http.Client
	proxy   *link.Proxy
	// checking are the goroutines that ask whether members are ready.
	checking sync.WaitGroup
	end      context.CancelFunc

	mu    sync.Mutex
	ready map[*member]bool
	turn  int
	// chosen is for whom a connection is meant, by the client's address, from its links being
	// looked up until it is dialed.
	chosen map[string]*member
}

var _ cluster.LoadBalanced = (*local)(nil)

// BalancerConfig implements cluster.LoadBalanced; ok is false where there is only one member.
func (c *local) BalancerConfig() (config *rest.Config, ok bool) {
	if c.balancer == nil {
		return nil, false
	}
	config = c.clientOf(c.balancer.proxy.URL())
	return config, true
}

// balance puts a load balancer before the members, once all of these have their ports.
func (c *local) balance() error {
	if len(c.members) < 2 {
		return nil
	}
	// Connections go over the links of the member, like those of any client outside.
	b := &balancer{
		url:     func(m *member) string { return m.site.clientProxy.URL() },
		address: func(m *member) string { return m.site.apiserver.Address },
		links:   (*member).fromOutside,
	}
	c.balancer = b
	return c.startBalancer(b)
}

// startBalancer opens the port of a load balancer and has it ask who is ready.
func (c *local) startBalancer(b *balancer) error {
	listener, err := c.ports.Listen()
	if err != nil {
		return err
	}
	secured, err := c.ca.ClientTLS(c.admin)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	b.members, b.ready, b.chosen = c.members, map[*member]bool{}, map[string]*member{}
	b.client = &http.Client{Timeout: balancerCheckBound, Transport: &http.Transport{TLSClientConfig: secured, DisableKeepAlives: true}}
	b.proxy = link.NewProxy(listener, b.dial, b.linksOf)
	ctx, end := context.WithCancel(c.life)
	b.end = end
	for _, m := range c.members {
		b.checking.Go(func() { b.check(ctx, m) })
	}
	b.proxy.Start()
	return nil
}

func (b *balancer) stop() {
	b.end()
	b.checking.Wait()
	b.proxy.Stop()
}

// check asks a member over and over whether it is ready.
func (b *balancer) check(ctx context.Context, m *member) {
	ticker := time.NewTicker(balancerCheck)
	defer ticker.Stop()
	for {
		ready := b.ask(ctx, m)
		b.mu.Lock()
		b.ready[m] = ready
		b.mu.Unlock()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (b *balancer) ask(ctx context.Context, m *member) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url(m)+"/readyz", nil)
	if err != nil {
		return false
	}
	answer, err := b.client.Do(request)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

// next is the member whose turn it is among those that are ready; any member's where none
// is. The lock is held.
func (b *balancer) next() *member {
	for range b.members {
		m := b.members[b.turn%len(b.members)]
		b.turn++
		if b.ready[m] {
			return m
		}
	}
	return b.members[b.turn%len(b.members)]
}

// linksOf chooses the member for a connection, and gives its links.
func (b *balancer) linksOf(client net.Addr) []*link.Link {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.next()
	b.chosen[client.String()] = m
	return b.links(m)(client)
}

// dial reaches the server of the chosen member, or of the next one that is ready and
// takes the connection.
func (b *balancer) dial(ctx context.Context, client *net.TCPConn) (*net.TCPConn, error) {
	b.mu.Lock()
	m := b.chosen[client.RemoteAddr().String()]
	delete(b.chosen, client.RemoteAddr().String())
	b.mu.Unlock()
	var errs []error
	for range b.members {
		if m == nil {
			break
		}
		dialed, err := link.To(b.address(m))(ctx, client)
		if err == nil {
			return dialed, nil
		}
		errs = append(errs, fmt.Errorf("member %s: %w", m.name, err))
		b.mu.Lock()
		b.ready[m] = false
		m = b.next()
		b.mu.Unlock()
	}
	return nil, errors.Join(errs...)
}
