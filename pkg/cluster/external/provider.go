// Package external is the provider of external clusters, and that the
// harness neither makes nor removes.
//
// A topology says how each member's own API server is reached, and which commands
// operate its node: the hooks of the user, and those of an installer's driver. The provider sees no processes. That another API
// server answers than before it knows from the server's own metrics, which tell when
// it was started; when it was started by the harness's clock, it never knows. What
// has neither a hook nor a driver's operation cannot be done, and nothing at all is done without the leave that
// cluster.Options.AllowDisruption is.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package external

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/driver"
	"github.com/evenkeel/evenkeel/pkg/cluster/kubernetes"
	"github.com/evenkeel/evenkeel/pkg/cluster/reference"
	"github.com/evenkeel/evenkeel/pkg/credential"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// Name is what topologies call this provider.
const Name = "external"

// folderMode and logMode are the modes of what is left on the disk.
const (
	folderMode = 0o700
	logMode    = 0o600
)

// Provider finds external clusters.
type Provider struct{}

var (
	_ cluster.Provider        = Provider{}
	_ agent.Host              = Provider{}
	_ cluster.Shared          = Provider{}
	_ cluster.Beginner        = Provider{}
	_ cluster.TopologyChecker = Provider{}
)

// TopologyProblems implements cluster.TopologyChecker.
func (Provider) TopologyProblems(topology *cluster.Topology) []string {
	return driver.Problems(topology)
}

// Adopts implements cluster.Adopter.
func (Provider) Adopts() {}

// Access implements cluster.Shared.
func (Provider) Access(topology *cluster.Topology) ([]*rest.Config, error) {
	var out []*rest.Config
	for _, member := range topology.Spec.Members {
		config, err := administrator(topology, member)
		if err != nil {
			return nil, err
		}
		out = append(out, config)
	}
	return out, nil
}

// Name implements cluster.Provider.
func (Provider) Name() string { return Name }

// Releases implements cluster.Provider: it runs none itself.
func (Provider) Releases(context.Context, string) ([]string, error) { return nil, nil }

// Defects implements cluster.Provider: none is planted in an external cluster.
func (Provider) Defects(context.Context, string) ([]cluster.Defect, error) { return nil, nil }

// New implements cluster.Provider: it asks every member's API server who it is and
// which release it runs, and changes nothing.
func (Provider) New(ctx context.Context, topology *cluster.Topology, options cluster.Options) (cluster.Cluster, error) {
	c, err := met(ctx, topology, options)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// met is the cluster once its members were asked.
func met(ctx context.Context, topology *cluster.Topology, options cluster.Options) (*external, error) {
	c, err := newCluster(topology, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", topology.File, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, meetBound, fmt.Errorf("it took longer than %s", meetBound))
	defer cancel()
	if err := c.meet(ctx); err != nil {
		if ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
			err = fmt.Errorf("%w: %w", err, context.Cause(ctx))
		}
		return nil, errors.Join(fmt.Errorf("%s: %w", topology.File, err), c.Stop(ctx))
	}
	return c, nil
}

// external is an external cluster.
type external struct {
	topology *cluster.Topology
	spec     cluster.External
	driver   *driver.Driver // nil where there is none
	allowed  bool
	folder   string // of the topology, where hooks run
	logDir   string
	releases []string
	observe  cluster.Observer
	balancer *rest.Config // nil where there is none
	sent     []*sent

	members []*member
	byName  map[string]*member
	// components are those of which something is seen, and secrets what opens the agents.
	components []cluster.Component
	secrets    []credential.Credential
	// bequest is what the agents remove if the harness is killed; nil is nothing.
	bequest atomic.Pointer[agent.Bequest]

	// life ends with Stop, and all watching with it.
	life     context.Context
	endLife  context.CancelFunc
	watching sync.WaitGroup

	bounds   bounds
	stopping sync.Mutex
	stopped  bool
}

var (
	_ cluster.Cluster             = (*external)(nil)
	_ cluster.ExternallyManaged   = (*external)(nil)
	_ cluster.Bequeathing         = (*external)(nil)
	_ cluster.NodeUpgrader        = (*external)(nil)
	_ cluster.LoadBalanced        = (*external)(nil)
	_ cluster.HostAddressProvider = (*external)(nil)
)

func newCluster(topology *cluster.Topology, options cluster.Options) (*external, error) {
	folder, err := filepath.Abs(topology.Path("."))
	if err != nil {
		return nil, fmt.Errorf("find the topology's folder: %w", err)
	}
	c := &external{topology: topology, allowed: options.AllowDisruption, folder: folder, logDir: options.LogDir, observe: options.Observer, bounds: usualBounds, byName: map[string]*member{}}
	if topology.Spec.External != nil {
		c.spec = *topology.Spec.External
		c.driver, _ = driver.Lookup(c.spec.Driver)
	}
	if c.observe == nil {
		c.observe = func(cluster.Change) {}
	}
	if c.logDir == "" {
		if c.logDir, err = os.MkdirTemp("", "evenkeel-external-"); err != nil {
			return nil, fmt.Errorf("cannot make a folder for logs: %w", err)
		}
	}
	if err := os.MkdirAll(c.logDir, folderMode); err != nil {
		return nil, fmt.Errorf("cannot make the folder for logs: %w", err)
	}
	if c.spec.Balancer != nil {
		if c.balancer, err = load(topology, *c.spec.Balancer); err != nil {
			return nil, fmt.Errorf("the load balancer: %w", err)
		}
		c.watchSent("the load balancer", c.balancer)
	}
	if err := checkAddress(c.spec.Address); err != nil {
		return nil, err
	}
	c.life, c.endLife = context.WithCancel(context.Background())
	for _, spec := range topology.Spec.Members {
		m, err := newMember(c, topology, spec)
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", spec.Name, err)
		}
		c.members = append(c.members, m)
		c.byName[m.name] = m
	}
	if err := c.checkAddresses(); err != nil {
		return nil, err
	}
	c.components = []cluster.Component{cluster.APIServer}
	c.secrets, err = c.agents(cmp.Or(options.Name, Name))
	return c, err
}

// checkAddress refuses an address at which no backend of the run could listen.
func checkAddress(address string) error {
	if address == "" {
		return nil
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return fmt.Errorf("spec.external.address %s is not an address of this machine, so that no backend can listen there: name one at which the API servers reach it, or leave it out: %w", address, err)
	}
	return listener.Close()
}

// checkAddresses refuses two members at one address.
func (c *external) checkAddresses() error {
	for i, m := range c.members {
		for _, other := range c.members[:i] {
			if m.base == other.base {
				return fmt.Errorf("%s and %s are both reached at the same address: each member needs a kubeconfig that leads to its own API server", other.name, m.name)
			}
		}
	}
	return nil
}

// serverID is the identity of an API server by what the distribution makes of its
// host name; empty where that is not known.
func serverID(distribution, member, host string) string {
	switch distribution {
	case cluster.ForeignDistribution:
		return kubernetes.ServerID(host)
	case reference.Name:
		return reference.ServerID(member)
	}
	return ""
}

// meet learns which processes answer, and which releases they run.
func (c *external) meet(ctx context.Context) error {
	var group errgroup.Group
	for _, m := range c.members {
		group.Go(func() error {
			if err := m.meet(ctx); err != nil {
				return fmt.Errorf("member %s: %w", m.name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := c.settleReleases(); err != nil {
		return err
	}
	for _, m := range c.members {
		if err := m.meetAgent(ctx); err != nil {
			return fmt.Errorf("member %s: %w", m.name, err)
		}
	}
	if err := c.meetChaosMesh(ctx); err != nil {
		return err
	}
	return c.tellApart(ctx)
}

// settleReleases finds the names of the releases that members run.
func (c *external) settleReleases() error {
	c.releases = slices.Clone(c.spec.Releases)
	if len(c.releases) == 0 {
		for _, m := range c.members {
			c.releases = append(c.releases, cmp.Or(m.wanted, m.version))
		}
		slices.SortFunc(c.releases, func(a, b string) int { return cmp.Or(release.Compare(a, b), strings.Compare(a, b)) })
		c.releases = slices.Compact(c.releases)
	}
	for _, m := range c.members {
		named, ok := c.named(m.version)
		m.release = named
		switch {
		case m.begins() && ok:
			continue
		case m.begins():
			return fmt.Errorf("member %s: it runs %s, which is none of spec.external.releases: %s", m.name, m.version, strings.Join(c.releases, ", "))
		}
		if why := c.keepsFrom(m); why != "" {
			return fmt.Errorf("member %s: the topology says that it begins with %s, and its /version says %s: %s", m.name, m.wanted, m.version, why)
		}
		m.release, _ = c.named(m.wanted) // Begin takes it there
	}
	return nil
}

// named is the name of the release that a version is of.
func (c *external) named(version string) (string, bool) {
	at := slices.IndexFunc(c.releases, func(one string) bool { return release.Is(one, version) })
	if at < 0 {
		return "", false
	}
	return c.releases[at], true
}
