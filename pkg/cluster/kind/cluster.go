//go:build linux

package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	kind "sigs.k8s.io/kind/pkg/cluster"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
	"github.com/evenkeel/evenkeel/pkg/credential"
	releases "github.com/evenkeel/evenkeel/pkg/release"
)

// kindCluster is a cluster of kind nodes.
type kindCluster struct {
	entry        *state.Entry
	topology     *cluster.Topology
	distribution distribution
	releaseNames []string
	logDir       string
	seed         int64
	kind         *kind.Provider
	log          *collector

	// authority signs clients' and API servers' certificates, etcdAuthority
	// those of etcd and its clients.
	authority, etcdAuthority *pki.Authority
	// frontProxyAuthority signs the certificates by which API servers of the reference act
	// for users at their peers; kubeadm makes one of its own.
	frontProxyAuthority *pki.Authority
	admin, etcdClient   pki.Pair
	// balancer is the port of the load balancer; 0 where there is none.
	balancer int
	ports    port.Source

	members []*member
	byName  map[string]*member

	// life ends with Stop, and all waiting with it.
	life    context.Context
	endLife context.CancelCauseFunc
	// listening counts the goroutines that listen to agents.
	listening sync.WaitGroup

	mu     sync.Mutex
	wanted []string // releases that members will be replaced with
	// starting is held by Start for as long as it works, and by Stop until
	// nothing is left: what makes nodes must have ended before they are removed.
	starting sync.Mutex
	// made is whether anything was made at the container engine, and begun whether all
	// members were set up on it.
	made, begun bool
	stopped     bool
	// secrets are the credentials that were found in nodes so far.
	secrets []credential.Credential
}

var (
	_ cluster.Cluster                  = (*kindCluster)(nil)
	_ cluster.KubeconfigWriter         = (*kindCluster)(nil)
	_ cluster.ReleasePreparer          = (*kindCluster)(nil)
	_ cluster.NodeUpgrader             = (*kindCluster)(nil)
	_ cluster.LoadBalanced             = (*kindCluster)(nil)
	_ cluster.HostAddressProvider      = (*kindCluster)(nil)
	_ cluster.EtcdKeyFaultInjector     = (*kindCluster)(nil)
	_ cluster.HTTPFaultInjector        = (*kindCluster)(nil)
	_ cluster.FeatureGated             = (*kindCluster)(nil)
	_ cluster.AdmissionPolicySupporter = (*kindCluster)(nil)
	_ cluster.FeatureSwitcher          = (*kindCluster)(nil)
	_ cluster.CPUWaiter                = (*kindCluster)(nil)
)

// member is one control-plane member.
type member struct {
	name string
	// host is the node's name at kind, its host name, and its container's name.
	host     string
	serverID string
	// shared is the folder that the node's agent has too.
	shared string
	agent  *agent.Client
	units  *agent.Units
	// client carries what comes over cluster.LinkClient, on this side of the
	// node; the other links are the agent's.
	client *link.Link
	// outside is the part of cluster.LinkNode that is on this side of the node,
	// which carries the same.
	outside *link.Link
	proxy   *link.Proxy
	// apiserver and etcd are the ports of this machine that lead to them.
	apiserver, etcd int
	etcdClients     etcdClients

	// turn is taken by the operation on the member; a channel, because
	// waiting for it has to end with a context.
	turn chan struct{}

	mu      sync.Mutex
	release string
	// imported are the releases whose images the node has.
	imported []string
	// address of the node in the cluster's network, from its first boot on; off
	// is whether it has no power.
	address string
	off     bool
	// pods are the static Pods that kubeadm wrote, by component.
	pods map[cluster.Component][]byte
	// puts counts the static Pods that were put: each is another one to the
	// kubelet.
	puts int
	// away are the components whose static Pods were taken away on purpose.
	away map[cluster.Component]bool
	// frozen is whether the node was paused as a whole.
	frozen bool
	// without are the features that are switched off in the static Pods that are put
	// from now on.
	without []cluster.Feature
}

// setAway notes whether the component's static Pod was taken away on purpose.
func (m *member) setAway(component cluster.Component, away bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.away[component] = away
}

// isAway is whether the component's static Pod was taken away on purpose.
func (m *member) isAway(component cluster.Component) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.away[component]
}

// errStopped is what operations end with when Stop came between.
var errStopped = errors.New("the cluster was stopped")

func newCluster(entry *state.Entry, runs distribution, releases []string, topology *cluster.Topology, options cluster.Options) *kindCluster {
	log := &collector{}
	c := &kindCluster{
		entry: entry, topology: topology, distribution: runs, releaseNames: releases, log: log,
		logDir: options.LogDir, seed: options.Seed, byName: map[string]*member{},
		kind: kind.NewProvider(kind.ProviderWithDocker(), kind.ProviderWithLogger(log)),
	}
	if c.logDir == "" {
		c.logDir = filepath.Join(entry.Dir, "logs")
	}
	c.life, c.endLife = context.WithCancelCause(context.Background())
	for i, spec := range topology.Spec.Members {
		host := c.id() + "-control-plane"
		if i > 0 {
			host = fmt.Sprintf("%s%d", host, i+1)
		}
		release := topology.ReleaseOf(spec)
		shared := filepath.Join(entry.Dir, "nodes", spec.Name)
		m := &member{
			name: spec.Name, host: host, serverID: runs.serverID(spec.Name, host),
			shared: shared, agent: agent.NewClient(spec.Name, shared),
			units:   agent.NewUnits(spec.Name, runs.components(), release, options.Observer),
			client:  link.New(options.Seed, spec.Name+"/"+string(cluster.LinkClient)),
			outside: link.New(options.Seed, spec.Name+"/"+string(cluster.LinkNode)),
			turn:    make(chan struct{}, 1),
			release: release, pods: map[cluster.Component][]byte{}, away: map[cluster.Component]bool{},
		}
		c.members = append(c.members, m)
		c.byName[m.name] = m
	}
	return c
}

func (c *kindCluster) id() string { return c.entry.Record().ID }

// Members implements cluster.Cluster.
func (c *kindCluster) Members() []cluster.Member {
	members := make([]cluster.Member, 0, len(c.members))
	for _, m := range c.members {
		members = append(members, cluster.Member{
			Name: m.name, Host: m.host, ServerID: m.serverID, Components: slices.Clone(c.distribution.components()),
		})
	}
	return members
}

// Releases implements cluster.Cluster.
func (c *kindCluster) Releases() []string { return slices.Clone(c.releaseNames) }

// Gates implements cluster.FeatureGated; the reference has none.
func (c *kindCluster) Gates(release string) map[string]string {
	if gated, ok := c.distribution.(*published); ok {
		return gated.gates(release)
	}
	return nil
}

// SupportsAdmissionPolicies implements cluster.AdmissionPolicySupporter.
func (c *kindCluster) SupportsAdmissionPolicies() bool {
	_, ok := c.distribution.(*published)
	return ok
}

// Release implements cluster.Cluster; it is empty for a member that there is
// not.
func (c *kindCluster) Release(name string) string {
	m, ok := c.byName[name]
	if !ok {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.release
}

// LogDir implements cluster.Cluster.
func (c *kindCluster) LogDir() string { return c.logDir }

// Kubeconfig implements cluster.KubeconfigWriter.
func (c *kindCluster) Kubeconfig() string { return filepath.Join(c.entry.Dir, "kubeconfig") }

// Prepare implements cluster.ReleasePreparer: the nodes will get what the releases
// need before the cluster counts as started.
func (c *kindCluster) Prepare(ctx context.Context, releases []string) error {
	for _, release := range releases {
		if err := c.distribution.available(ctx, release); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted = releases
	return nil
}

// Start implements cluster.Cluster.
func (c *kindCluster) Start(ctx context.Context) error {
	c.starting.Lock()
	defer c.starting.Unlock()
	if err := context.Cause(c.life); err != nil {
		return fmt.Errorf("cannot start the cluster %s: %w", c.entry.Record().Name, err)
	}
	both, done := c.within(ctx)
	defer done()
	if err := c.start(both); err != nil {
		return &cluster.StartError{Cluster: c.entry.Record().Name, Err: err}
	}
	return nil
}

func (c *kindCluster) start(ctx context.Context) error {
	c.mu.Lock()
	c.made = true
	wanted := c.wanted
	c.mu.Unlock()
	if err := makeNetwork(ctx, c.id(), labelOf(c.entry.Record().Owner)); err != nil {
		return err
	}
	for _, m := range c.members {
		c.listening.Go(func() { c.listen(m) })
	}
	if err := c.create(ctx); err != nil {
		return err
	}
	for _, m := range c.members {
		address, err := addressOf(ctx, c.id(), m.host)
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.address = address
		m.mu.Unlock()
	}
	if err := c.distribution.begin(ctx, c); err != nil {
		return err
	}
	c.mu.Lock()
	c.begun = true
	c.mu.Unlock()
	// Images are imported last: it takes the machine's time, and no operation waits for it.
	return together(ctx, c.members, func(ctx context.Context, m *member) error {
		for _, release := range wanted {
			if err := c.supply(ctx, m, release); err != nil {
				return err
			}
		}
		return nil
	})
}

// supply gives a node what it needs to run a release.
func (c *kindCluster) supply(ctx context.Context, m *member, name string) error {
	release := releases.Binary(name)
	m.mu.Lock()
	has := slices.Contains(m.imported, release)
	m.mu.Unlock()
	if has {
		return nil
	}
	if err := c.distribution.supply(ctx, c, m, release); err != nil {
		return fmt.Errorf("giving the node of %s what release %s needs: %w", m.name, release, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.imported = append(m.imported, release)
	return nil
}

// listen takes in what the member's agent tells, for as long as the cluster
// lives: an agent goes with its node's power and is another one afterwards.
func (c *kindCluster) listen(m *member) {
	for c.life.Err() == nil {
		m.mu.Lock()
		known := m.address != ""
		m.mu.Unlock()
		if !known {
			// A client that knows the address early sees the first boot as it is.
			if own, err := m.agent.Address(c.life); err == nil {
				m.mu.Lock()
				m.address = own.String()
				m.mu.Unlock()
			}
		}
		_ = m.agent.Events(c.life, m.units.Listener())
		_ = pause(c.life, agentRetry)
	}
}

// Stop implements cluster.Cluster. Nothing is ended gently: the data goes, so
// there is nothing to lose.
func (c *kindCluster) Stop(ctx context.Context) error {
	c.endLife(errStopped)
	c.starting.Lock()
	defer c.starting.Unlock()
	if c.stopped {
		return nil
	}
	// A caller that was interrupted comes with an ended context,
	// and must not leave containers behind for it.
	ctx = context.WithoutCancel(ctx)
	if c.made {
		for _, m := range c.members {
			for _, component := range c.distribution.components() {
				m.units.Ending(component)
			}
		}
		if _, err := removeFromEngine(ctx, c.id()); err != nil {
			return err
		}
	}
	c.listening.Wait()
	for _, m := range c.members {
		m.units.PowerLost()
		if m.proxy != nil {
			m.proxy.Stop()
		}
	}
	c.ports.Close()
	if err := c.removeFiles(); err != nil {
		return fmt.Errorf("cannot remove the files of cluster %s: %w; remove %s", c.entry.Record().Name, err, c.entry.Dir)
	}
	c.stopped = true
	return nil
}

// removeFiles removes the cluster's folder, but for logs that are in there:
// the user who reads the error of a failed start wants to look at them.
func (c *kindCluster) removeFiles() error {
	if filepath.Dir(c.logDir) == c.entry.Dir {
		return c.entry.RemoveExcept(filepath.Base(c.logDir))
	}
	return c.entry.Remove()
}

// take waits for the member's turn. The context that it returns ends with the
// given one and with the cluster.
func (c *kindCluster) take(ctx context.Context, name string) (*member, context.Context, func(), error) {
	m, err := c.look(name)
	if err != nil {
		return nil, nil, nil, err
	}
	both, drop := c.within(ctx)
	select {
	case m.turn <- struct{}{}:
		return m, both, func() { <-m.turn; drop() }, nil
	case <-both.Done():
		cause := context.Cause(both)
		drop()
		return nil, nil, nil, fmt.Errorf("waiting for another operation on member %s was given up: %w", name, cause)
	}
}

// within gives a context that ends with the given one and with the cluster.
func (c *kindCluster) within(ctx context.Context) (context.Context, func()) {
	both, cancel := context.WithCancelCause(ctx)
	detach := context.AfterFunc(c.life, func() { cancel(context.Cause(c.life)) })
	return both, func() { detach(); cancel(nil) }
}

// look gives a member without waiting for its turn, for those who only look.
func (c *kindCluster) look(name string) (*member, error) {
	if m, ok := c.byName[name]; ok {
		return m, nil
	}
	names := make([]string, 0, len(c.members))
	for _, m := range c.members {
		names = append(names, m.name)
	}
	return nil, fmt.Errorf("the cluster has no member %q; it has: %s", name, strings.Join(names, ", "))
}

// writeFile writes a file that only its owner reads, and its folder.
func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return err
	}
	return os.WriteFile(path, content, privateMode)
}
