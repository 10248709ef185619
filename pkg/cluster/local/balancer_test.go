package local

import (
	"io"
	"net"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
)

// named is a member whose server tells its name and hangs up.
func named(t *testing.T, name string) (*member, net.Listener) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(client, name)
			_ = client.Close()
		}
	}()
	return &member{
		name: name, site: &site{apiserver: &port.Slot{Address: listener.Addr().String()}},
		links: map[cluster.Link]*link.Link{cluster.LinkClient: link.New(1, "client"), cluster.LinkNode: link.New(1, "node")},
	}, listener
}

func TestBalancerGivesConnectionsToReadyMembersThatTakeThem(t *testing.T) {
	one, first := named(t, "cp1")
	two, _ := named(t, "cp2")
	b := &balancer{
		members: []*member{one, two}, ready: map[*member]bool{one: true, two: true}, chosen: map[string]*member{},
		address: func(m *member) string { return m.site.apiserver.Address }, links: (*member).fromOutside,
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.proxy = link.NewProxy(listener, b.dial, b.linksOf)
	b.proxy.Start()
	defer b.proxy.Stop()
	ask := func() string {
		t.Helper()
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		said, err := io.ReadAll(client)
		if err != nil {
			t.Fatal(err)
		}
		return string(said)
	}
	served := map[string]int{}
	for range 4 {
		served[ask()]++
	}
	if served["cp1"] != 2 || served["cp2"] != 2 {
		t.Errorf("of four clients the members served %v", served)
	}
	if carried := one.links[cluster.LinkNode].Stats().Connections; carried != 2 {
		t.Errorf("the link of cp1 carried %d connections", carried)
	}

	// One that refuses is passed over, also before it is found not to be ready.
	_ = first.Close()
	for range 4 {
		if by := ask(); by != "cp2" {
			t.Errorf("a client was served by %q", by)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ready[one] || len(b.chosen) != 0 {
		t.Errorf("cp1 is ready: %v; %d connections are remembered", b.ready[one], len(b.chosen))
	}
}

// A member that is not ready gets no connection while another one is.
func TestBalancerSparesMembersThatAreNotReady(t *testing.T) {
	one, _ := named(t, "cp1")
	two, _ := named(t, "cp2")
	b := &balancer{members: []*member{one, two}, ready: map[*member]bool{two: true}}
	for range 4 {
		if m := b.next(); m != two {
			t.Errorf("the next one is %s", m.name)
		}
	}
	b.ready[two] = false
	if b.next() == nil {
		t.Error("where none is ready, there is none to try")
	}
}
