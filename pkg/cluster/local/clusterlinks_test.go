package local

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

func (p *played) cutsClients(t *testing.T) {
	c := p.c
	direct, _ := c.ClientConfig("cp1", false)
	faulty, _ := c.ClientConfig("cp1", true)
	if _, err := call(t.Context(), faulty, "/echo", "hello"); err != nil {
		t.Fatal(err)
	}
	setLink(t, c, "cp1", cluster.LinkClient, cluster.Shape{Cut: true})
	before := stats(t, c, "cp1", cluster.LinkClient)
	answer := make(chan error, 1)
	go func() {
		_, err := call(t.Context(), faulty, "/echo", "hello")
		answer <- err
	}()
	eventually(t, "something withheld", func() bool { return stats(t, c, "cp1", cluster.LinkClient).Withheld > before.Withheld })
	if _, err := call(t.Context(), direct, "/readyz", ""); err != nil {
		t.Errorf("the direct way: %v", err)
	}
	if after := stats(t, c, "cp1", cluster.LinkClient); after.BytesToServer != before.BytesToServer {
		t.Errorf("bytes passed the cut: %+v, then %+v", before, after)
	}
	setLink(t, c, "cp1", cluster.LinkClient, cluster.Shape{})
	if err := <-answer; err != nil {
		t.Errorf("after healing: %v", err)
	}
}

func (p *played) cutsEtcd(t *testing.T) {
	c := p.c
	direct, _ := c.ClientConfig("cp1", false)
	setLink(t, c, "cp1", cluster.LinkEtcd, cluster.Shape{Cut: true})
	_, err := call(t.Context(), direct, "/readyz", "")
	expectError(t, err, "[-]etcd failed")
	setLink(t, c, "cp1", cluster.LinkEtcd, cluster.Shape{})
	if _, err := call(t.Context(), direct, "/readyz", ""); err != nil {
		t.Error(err)
	}
}

func (p *played) cutsPeers(t *testing.T) {
	c := p.c
	setLink(t, c, "cp3", cluster.LinkPeer, cluster.Shape{Cut: true})
	before := stats(t, c, "cp3", cluster.LinkPeer)
	others := stats(t, c, "cp1", cluster.LinkPeer)
	eventually(t, "the others to go on", func() bool {
		return stats(t, c, "cp1", cluster.LinkPeer).BytesToServer > others.BytesToServer+100
	})
	after := stats(t, c, "cp3", cluster.LinkPeer)
	// A piece that was past the gate when it closed may still arrive.
	if passed := after.BytesToServer - before.BytesToServer; passed > 64 {
		t.Errorf("%d bytes passed the cut", passed)
	}
	if after.Withheld == before.Withheld && after.Withheld < 4 {
		t.Errorf("withheld %d, want the connections of both sides", after.Withheld)
	}
	setLink(t, c, "cp3", cluster.LinkPeer, cluster.Shape{})
	eventually(t, "bytes to pass again", func() bool { return stats(t, c, "cp3", cluster.LinkPeer).BytesToServer > after.BytesToServer })
}

func (p *played) cutsANode(t *testing.T) {
	c := p.c
	direct, _ := c.ClientConfig("cp3", false)
	faulty, _ := c.ClientConfig("cp3", true)
	setLink(t, c, "cp3", cluster.LinkNode, cluster.Shape{Cut: true})
	eventually(t, "the peers' data to be withheld", func() bool { return stats(t, c, "cp3", cluster.LinkNode).Withheld > 0 })
	before := stats(t, c, "cp3", cluster.LinkNode).Withheld
	answer := make(chan error, 1)
	go func() {
		_, err := call(t.Context(), faulty, "/echo", "hello")
		answer <- err
	}()
	eventually(t, "the client to be withheld", func() bool { return stats(t, c, "cp3", cluster.LinkNode).Withheld > before })
	if _, err := call(t.Context(), direct, "/readyz", ""); err != nil {
		t.Errorf("the direct way: %v", err)
	}
	others := stats(t, c, "cp1", cluster.LinkPeer).BytesToServer
	eventually(t, "the others to go on", func() bool { return stats(t, c, "cp1", cluster.LinkPeer).BytesToServer > others+100 })
	setLink(t, c, "cp3", cluster.LinkNode, cluster.Shape{})
	if err := <-answer; err != nil {
		t.Errorf("after healing: %v", err)
	}
}
