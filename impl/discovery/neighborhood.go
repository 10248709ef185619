package discovery

import (
	"context"
	"fmt"
	"sync/atomic"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Neighborhood is the View of a server that has peers: all resources of the server and
// its peers, because the server proxies requests for resources that only peers host.
type Neighborhood struct {
	catalog *Catalog
	peers   *Peers
	self    string
	rank    Rank
	now     atomic.Pointer[union]
}

// union is what follows from one state of the catalog and the peers.
type union struct {
	document *Document
	routes   map[Hosted][]string
}

// NewNeighborhood returns the view of the server with an ID. The caller must run it,
// the catalog and the peers.
func NewNeighborhood(catalog *Catalog, peers *Peers, self string, rank Rank) *Neighborhood {
	return &Neighborhood{catalog: catalog, peers: peers, self: self, rank: rank}
}

// Document is the document of a scope. Until peers are known, everything is what
// this server hosts.
func (n *Neighborhood) Document(scope Scope) *Document {
	if scope == Everything {
		if now := n.now.Load(); now != nil && now.document != nil {
			return now.document
		}
	}
	return localView{n.catalog}.Document(scope)
}

// Run keeps the union up to date until the context ends.
func (n *Neighborhood) Run(ctx context.Context) {
	var pace pace
	for {
		_, news := n.catalog.News()
		hosting, changed := n.peers.Hosting()
		start := n.catalog.clock.Now()
		if err := n.refresh(hosting); err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "The union of discovery stays as it was")
		}
		now := n.catalog.clock.Now()
		select {
		case <-n.catalog.clock.After(pace.pause(now, now.Sub(start))):
		case <-ctx.Done():
			return
		}
		select {
		case <-news:
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// refresh computes the union of what is known now.
func (n *Neighborhood) refresh(peers []Hosting) error {
	entries := n.catalog.Entries()
	peers = n.catalog.hooks.peers(peers)
	routes := RoutesOf(entries, peers)
	if len(routes) == 0 {
		// No peer adds a resource, so the local document is complete, and clients get
		// its changes without delay.
		n.now.Store(&union{})
		return nil
	}
	before := n.catalog.Document()
	if now := n.now.Load(); now != nil && now.document != nil {
		before = now.document
	}
	start := n.catalog.clock.Now()
	document, err := succeed(before, Merge(Unite(entries, n.self, peers, n.rank)), n.catalog.hooks.document)
	if err != nil {
		return fmt.Errorf("merge the documents of %d peers: %w", len(peers), err)
	}
	n.catalog.metrics.united(n.catalog.clock.Since(start))
	n.now.Store(&union{document: document, routes: routes})
	return nil
}

// route finds a peer for what this server does not host.
func (n *Neighborhood) route(hosted Hosted) (id, address string, ok bool) {
	now := n.now.Load()
	if now == nil || len(now.routes[hosted]) == 0 || !n.catalog.hooks.routes() {
		return "", "", false
	}
	return n.peers.oneOf(now.routes[hosted])
}
