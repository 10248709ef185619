package discovery

import (
	"context"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	peerproxymetrics "k8s.io/apiserver/pkg/util/peerproxy/metrics"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Peer is another member of the control plane.
type Peer struct {
	// ID is the member's; it stays over restarts.
	ID string
	// Holder names the process that plays the member now: another one may host
	// other versions.
	Holder string
	// Address is where it listens, host and port.
	Address string
}

// Peers knows what the other members host by themselves. A member is asked when
// it appears and in intervals afterwards; what it said stays until it leaves.
type Peers struct {
	transport http.RoundTripper
	rhythm    *rhythm
	hooks     peerHooks

	mu      sync.Mutex
	ctx     context.Context // nil until Run
	present map[string]Peer
	stop    map[Peer]context.CancelFunc
	hosts   map[string][]apidiscoveryv2.APIGroupDiscovery
	// silent are those whom the last attempt to ask did not reach.
	silent map[string]bool
	// changed is closed when any of this did, and replaced.
	changed chan struct{}
}

// peerHooks are where defects are planted in what peers host; those of soundPeers change nothing.
type peerHooks struct {
	// forgets is whether what a member hosts is forgotten when it has left; left comes after that.
	forgets func() bool
	left    func()
	// learns comes before what a peer said counts.
	learns func(ctx context.Context)
}

func soundPeers() peerHooks {
	return peerHooks{forgets: func() bool { return true }, left: func() {}, learns: func(context.Context) {}}
}

// NewPeers returns an empty list of peers. The transport identifies this server to
// its peers.
func NewPeers(transport http.RoundTripper, clock clock.WithTicker, random *rand.Rand) *Peers {
	return &Peers{
		transport: transport, rhythm: newRhythm(clock, random), hooks: soundPeers(),
		present: map[string]Peer{}, stop: map[Peer]context.CancelFunc{},
		hosts: map[string][]apidiscoveryv2.APIGroupDiscovery{}, silent: map[string]bool{}, changed: make(chan struct{}),
	}
}

// Run asks peers until the context ends.
func (p *Peers) Run(ctx context.Context) {
	p.mu.Lock()
	p.ctx = ctx
	for _, peer := range p.present {
		p.employLocked(peer)
	}
	p.mu.Unlock()
	<-ctx.Done()
}

// Set replaces the list of peers. It drops the resources of members that are not in
// the list any more. A member that restarted keeps its earlier resources until the
// next fetch from it succeeds.
func (p *Peers) Set(peers []Peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	present := map[string]Peer{}
	for _, peer := range peers {
		present[peer.ID] = peer
	}
	if maps.Equal(present, p.present) {
		return
	}
	p.present = present
	for peer, stop := range p.stop {
		if present[peer.ID] != peer {
			stop()
			delete(p.stop, peer)
		}
	}
	maps.DeleteFunc(p.hosts, func(id string, _ []apidiscoveryv2.APIGroupDiscovery) bool {
		_, stays := present[id]
		return !stays && p.hooks.forgets()
	})
	p.hooks.left()
	maps.DeleteFunc(p.silent, func(id string, _ bool) bool {
		_, stays := present[id]
		return !stays
	})
	for _, peer := range present {
		p.employLocked(peer)
	}
	p.announceLocked()
}

func (p *Peers) announceLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Peers) employLocked(peer Peer) {
	if _, ok := p.stop[peer]; ok || p.ctx == nil {
		return
	}
	ctx, stop := context.WithCancel(p.ctx)
	p.stop[peer] = stop
	go p.follow(ctx, peer)
}

// Hosting is what each peer is known to host, by ID, and a channel that is
// closed when that may have changed.
func (p *Peers) Hosting() ([]Hosting, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []Hosting
	for _, id := range slices.Sorted(maps.Keys(p.hosts)) {
		all = append(all, Hosting{Server: id, Groups: p.hosts[id]})
	}
	return all, p.changed
}

// follow asks a peer until the context ends.
func (p *Peers) follow(ctx context.Context, peer Peer) {
	accept := Form{Version: V2, MediaType: runtime.ContentTypeJSON}.ContentType() + ";profile=" + string(BuiltinOnly)
	logger := klog.FromContext(ctx).WithValues("peer", peer.ID, "address", peer.Address)
	failed, tag := 0, ""
	p.rhythm.keep(ctx, nil, func() int {
		a, err := fetcher{transport: p.transport, host: peer.Address}.aggregated(ctx, accept, tag)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			peerproxymetrics.IncPeerDiscoverySyncError(ctx, peerproxymetrics.DiscoveryErrorFetch)
			if failed == 0 {
				logger.Info("Cannot fetch discovery from a peer", "reason", err)
			}
			failed++
			p.heard(peer, false)
		default:
			failed = 0
			p.heard(peer, true)
			if !a.unchanged {
				tag = a.tag
				p.learn(ctx, peer, a)
			}
		}
		return failed
	})
}

// learn notes what a peer hosts, if it still is the peer that was asked.
func (p *Peers) learn(ctx context.Context, peer Peer, a answer) {
	p.hooks.learns(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil || p.present[peer.ID] != peer {
		return
	}
	p.hosts[peer.ID] = groupsOf(a)
	p.announceLocked()
}

// groupsOf are the groups of an answer, the versions in the order in which the
// server prefers them.
func groupsOf(a answer) []apidiscoveryv2.APIGroupDiscovery {
	groups := map[string][]apidiscoveryv2.APIVersionDiscovery{}
	for _, version := range a.order {
		groups[version.Group] = append(groups[version.Group], a.versions[version])
	}
	var list []apidiscoveryv2.APIGroupDiscovery
	for _, name := range slices.SortedFunc(maps.Keys(groups), strings.Compare) {
		list = append(list, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: name}, Versions: groups[name]})
	}
	return list
}

// heard notes whether a peer could be reached.
func (p *Peers) heard(peer Peer, reached bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.present[peer.ID] == peer {
		p.silent[peer.ID] = !reached
	}
}

// oneOf is the first of some members that is a peer, with where it listens;
// those that could be reached of late come before the others.
func (p *Peers) oneOf(ids []string) (id, address string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, silent := range []bool{false, true} {
		for _, id := range ids {
			if peer, present := p.present[id]; present && p.silent[id] == silent {
				return id, peer.Address, true
			}
		}
	}
	return "", "", false
}
