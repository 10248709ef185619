package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/transport"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/discovery"
	"github.com/evenkeel/evenkeel/impl/follow"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// neighbors are what a server needs to know of its peers and to reach them.
type neighbors struct {
	self    string
	peers   *discovery.Peers
	view    *discovery.Neighborhood
	carrier http.RoundTripper
}

func newNeighbors(o Options, catalog *discovery.Catalog) (*neighbors, error) {
	carrier, err := transport.New(&transport.Config{TLS: transport.TLSConfig{
		CAFile: o.PeerCAFile, CertFile: o.ProxyClientCertFile, KeyFile: o.ProxyClientKeyFile,
	}})
	if err != nil {
		return nil, fmt.Errorf("--peer-ca-file, --proxy-client-cert-file and --proxy-client-key-file: %w", err)
	}
	peers := discovery.NewPeers(plantAsking(asking, o.Defects)(carrier), clock.RealClock{}, newRandom())
	peers.Plant(o.Defects)
	return &neighbors{
		self: o.ServerID, peers: peers, carrier: carrier,
		view: discovery.NewNeighborhood(catalog, peers, o.ServerID, builtinRank),
	}, nil
}

// asking names a user in each request for the discovery of a peer, as Kubernetes does: every
// authenticated user may read discovery. The certificate is that of a proxy. Where proxies have
// an authority of their own, as kubeadm lays them out, no peer takes it for a user's.
func asking(carrier http.RoundTripper) http.RoundTripper {
	return transport.NewAuthProxyRoundTripper(user.APIServerUser, "", []string{user.AllAuthenticated}, nil, carrier)
}

// routeToPeers proxies requests for resources that only peers host. It runs before the
// barrier: the barrier of the peer guards the objects that the peer stores.
func (s *server) routeToPeers() error {
	if s.neighbors == nil {
		return nil
	}
	n := s.neighbors
	s.inner = discovery.NewRouter(n.view, n.carrier, s.inner)
	return s.aggregator.GenericAPIServer.AddPostStartHook("peers", func(hook genericapiserver.PostStartHookContext) error {
		go n.peers.Run(hook)
		go n.view.Run(hook)
		go n.follow(hook, s.client, clock.RealClock{})
		return nil
	})
}

// follow keeps the peers those whose identity Leases are in force.
func (n *neighbors) follow(ctx context.Context, client kubernetes.Interface, clock clock.WithTicker) {
	news := make(chan struct{}, 1)
	leases := follow.New(client, client.CoordinationV1().Leases(storageversion.LeaseNamespace), follow.Labeled(storageversion.IdentitySelector),
		func(_, _ *coordinationv1.Lease) {
			select {
			case news <- struct{}{}:
			default:
			}
		})
	go leases.Run(ctx)
	select {
	case <-leases.Listed():
	case <-ctx.Done():
		return
	}
	for {
		now := clock.Now()
		peers, until := peersOf(leases.All(), n.self, now)
		n.peers.Set(peers)
		var expiry <-chan time.Time
		if !until.IsZero() {
			// A moment later, so that it is over.
			expiry = clock.After(until.Sub(now) + time.Millisecond)
		}
		select {
		case <-news:
		case <-expiry:
		case <-ctx.Done():
			return
		}
	}
}

// peersOf returns the other servers that take part now and publish an address, and until
// when this list is valid if no Lease changes; zero means forever. An expired Lease
// belongs to a server that has left, so peersOf does not wait until the garbage
// collector deletes it.
func peersOf(leases []*coordinationv1.Lease, self string, now time.Time) (peers []discovery.Peer, until time.Time) {
	for _, lease := range leases {
		address := lease.Annotations[storageversion.PeerAddressAnnotation]
		expiry := storageversion.ExpiresAt(lease)
		if lease.Name == self || address == "" || lease.Spec.HolderIdentity == nil || now.After(expiry) {
			continue
		}
		peers = append(peers, discovery.Peer{ID: lease.Name, Holder: *lease.Spec.HolderIdentity, Address: address})
		if until.IsZero() || expiry.Before(until) {
			until = expiry
		}
	}
	return peers, until
}
