package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/oneline"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

// local is a cluster of processes on this machine.
type local struct {
	entry        *state.Entry
	distribution distribution
	releases     []string
	logDir       string

	ca *pki.Authority
	// frontProxy signs the certificates by which API servers act for users at their peers.
	frontProxy *pki.Authority
	admin      pki.Pair
	probe      probe
	ports      port.Source

	members []*member
	byName  map[string]*member
	// balancer is nil where there is only one member.
	balancer *balancer
	// aggregated is the load balancer before the aggregated servers; nil where there are none.
	aggregated *balancer

	// life ends with Stop, and all waiting with it.
	life    context.Context
	endLife context.CancelCauseFunc

	stopping sync.Mutex
	stopped  bool
}

var (
	_ cluster.Cluster                  = (*local)(nil)
	_ cluster.KubeconfigWriter         = (*local)(nil)
	_ cluster.ReleasePreparer          = (*local)(nil)
	_ cluster.EtcdKeyFaultInjector     = (*local)(nil)
	_ cluster.HTTPFaultInjector        = (*local)(nil)
	_ cluster.FeatureSwitcher          = (*local)(nil)
	_ cluster.FeatureGated             = (*local)(nil)
	_ cluster.AdmissionPolicySupporter = (*local)(nil)
	_ cluster.CPUWaiter                = (*local)(nil)
	_ cluster.AggregatedHost           = (*local)(nil)
)

// Members implements cluster.Cluster.
func (c *local) Members() []cluster.Member {
	members := make([]cluster.Member, 0, len(c.members))
	for _, m := range c.members {
		members = append(members, cluster.Member{
			// Every process is told, or shown, the member's name as its host's.
			Name: m.name, Host: m.name, ServerID: m.site.serverID, Components: slices.Clone(c.upwards()),
		})
	}
	return members
}

// Releases implements cluster.Cluster.
func (c *local) Releases() []string { return slices.Clone(c.releases) }

// Gates implements cluster.FeatureGated; the reference has none.
func (c *local) Gates(release string) map[string]string {
	if gated, ok := c.distribution.(published); ok {
		return gated.gates(release)
	}
	return nil
}

// SupportsAdmissionPolicies implements cluster.AdmissionPolicySupporter.
func (c *local) SupportsAdmissionPolicies() bool {
	_, ok := c.distribution.(published)
	return ok
}

// Release implements cluster.Cluster; it is empty for a member that there is
// not.
func (c *local) Release(name string) string {
	m, ok := c.byName[name]
	if !ok {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.release
}

// LogDir implements cluster.Cluster.
func (c *local) LogDir() string { return c.logDir }

// Kubeconfig implements cluster.KubeconfigWriter.
func (c *local) Kubeconfig() string { return filepath.Join(c.entry.Dir, "kubeconfig") }

// Start implements cluster.Cluster.
func (c *local) Start(ctx context.Context) error {
	releases := map[string]string{}
	for _, m := range c.members {
		releases[m.name] = c.Release(m.name)
	}
	if err := c.StartMembers(ctx, releases); err != nil {
		return &cluster.StartError{Cluster: c.entry.Record().Name, Err: err}
	}
	return nil
}

// Stop implements cluster.Cluster. Nothing is ended gently: the data goes, so
// there is nothing to lose.
func (c *local) Stop(ctx context.Context) error {
	c.stopping.Lock()
	defer c.stopping.Unlock()
	if c.stopped {
		return nil
	}
	c.endLife(errStopped)
	// A caller that was interrupted comes with an ended context,
	// and must not leave processes behind for it.
	ctx = context.WithoutCancel(ctx)
	var group errgroup.Group
	for _, m := range c.members {
		for _, u := range m.units {
			group.Go(func() error { return u.close(ctx) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, b := range []*balancer{c.balancer, c.aggregated} {
		if b != nil {
			b.stop()
		}
	}
	for _, m := range c.members {
		m.site.disconnect()
		m.dropInterceptor()
	}
	c.ports.Close()
	if err := c.removeFiles(); err != nil {
		return fmt.Errorf("cannot remove the files of cluster %s: %w; remove %s", c.entry.Record().Name, err, c.entry.Dir)
	}
	c.stopped = true
	return nil
}

// disconnect closes the ports and links that were opened.
func (s *site) disconnect() {
	for _, one := range s.proxies() {
		if one != nil {
			one.Stop()
		}
	}
	if s.keyProxy != nil {
		s.keyProxy.Stop()
	}
	for _, one := range []*port.Slot{s.etcdClient, s.etcdPeer, s.apiserver, s.controllerManager, s.scheduler, s.aggregated} {
		if one != nil {
			one.Release()
		}
	}
}

// removeFiles removes the cluster's folder, but for logs that are in there:
// the user who reads the error of a failed start wants to look at them. What is
// left then counts as a cluster until its owner or a clean-up removes it.
func (c *local) removeFiles() error {
	if filepath.Dir(c.logDir) == c.entry.Dir {
		return c.entry.RemoveExcept(filepath.Base(c.logDir))
	}
	return c.entry.Remove()
}

// StopMember implements cluster.Cluster.
func (c *local) StopMember(ctx context.Context, name string) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	var problems []error
	for _, component := range c.downwards() {
		problems = append(problems, m.stop(ctx, m.units[component]))
	}
	if err := oneline.Join(problems...); err != nil {
		return fmt.Errorf("stopping member %s: %w", name, err)
	}
	return nil
}

// StartMembers implements cluster.Cluster.
func (c *local) StartMembers(ctx context.Context, releases map[string]string) error {
	var members []*member
	// In one order, or two callers could each wait for what the other one has.
	for _, name := range slices.Sorted(maps.Keys(releases)) {
		if release := releases[name]; !cluster.HasRelease(c.releases, release) {
			return fmt.Errorf("cannot start member %s: there is no release %q; there are: %s", name, release, strings.Join(c.releases, ", "))
		}
		m, both, done, err := c.take(ctx, name)
		if err != nil {
			return err
		}
		defer done()
		ctx, members = both, append(members, m)
	}
	return c.bringAll(ctx, members, releases)
}

// bringAll starts all components of members of which nothing runs. Those of one kind
// start together: no etcd is ready before a majority of them is, and API servers that
// wait for one etcd more begin at one time. Where a component does not become ready, the
// member's other components are started all the same and not waited for, as a kubelet
// and a service manager do; the error tells of the first one.
func (c *local) bringAll(ctx context.Context, members []*member, releases map[string]string) error {
	for _, m := range members {
		for _, u := range m.units {
			if _, runs := u.process(); runs {
				return fmt.Errorf("cannot start member %s: its %s runs already; stop the member first", m.name, u.component)
			}
		}
	}
	for _, m := range members {
		m.mu.Lock()
		m.release = releases[m.name]
		m.mu.Unlock()
	}
	unready := make([]error, len(members))
	for _, component := range c.upwards() {
		// What the machine cannot do ends all waiting; what is not ready does not.
		group, together := errgroup.WithContext(ctx)
		for i, m := range members {
			group.Go(func() error {
				u, err := c.begin(m, component, releases[m.name])
				if err != nil || unready[i] != nil {
					return err
				}
				err = c.awaitReady(together, m, u)
				if late := (*cluster.Unready)(nil); errors.As(err, &late) {
					unready[i] = err
					return nil
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return oneline.Join(unready...)
}

// StartComponent implements cluster.Cluster.
func (c *local) StartComponent(ctx context.Context, name string, component cluster.Component) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	return c.bring(ctx, m, component, c.Release(name))
}

// StopComponent implements cluster.Cluster.
func (c *local) StopComponent(ctx context.Context, name string, component cluster.Component) error {
	return c.operate(ctx, name, component, func(u *unit, ctx context.Context) error {
		if err := c.byName[name].stop(ctx, u); err != nil {
			return fmt.Errorf("stopping the %s: %w", u, err)
		}
		return nil
	})
}

// Kill implements cluster.Cluster.
func (c *local) Kill(ctx context.Context, name string, component cluster.Component) error {
	return c.operate(ctx, name, component, (*unit).kill)
}

// Pause implements cluster.Cluster.
func (c *local) Pause(ctx context.Context, name string, component cluster.Component) error {
	if component == cluster.Whole {
		return c.freeze(ctx, name)
	}
	return c.operate(ctx, name, component, (*unit).pause)
}

// Resume implements cluster.Cluster.
func (c *local) Resume(ctx context.Context, name string, component cluster.Component) error {
	if component == cluster.Whole {
		return c.thaw(ctx, name)
	}
	return c.operate(ctx, name, component, (*unit).resume)
}

func (c *local) operate(ctx context.Context, name string, component cluster.Component, do func(*unit, context.Context) error) error {
	m, ctx, done, err := c.take(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	u, err := m.unit(component)
	if err != nil {
		return err
	}
	return do(u, ctx)
}

// Process implements cluster.Cluster.
func (c *local) Process(name string, component cluster.Component) (cluster.Process, bool) {
	u, err := c.find(name, component)
	if err != nil {
		return cluster.Process{}, false
	}
	return u.process()
}

// Paused implements cluster.Cluster.
func (c *local) Paused(name string, component cluster.Component) (bool, error) {
	if component == cluster.Whole {
		return c.frozen(name)
	}
	u, err := c.find(name, component)
	if err != nil {
		return false, err
	}
	return u.stopped()
}

// find gives a unit without waiting for the member's turn, for those who only
// look.
func (c *local) find(name string, component cluster.Component) (*unit, error) {
	m, err := c.look(name)
	if err != nil {
		return nil, err
	}
	return m.unit(component)
}

func (c *local) look(name string) (*member, error) {
	m, ok := c.byName[name]
	if !ok {
		return nil, fmt.Errorf("the cluster has no member %q; it has: %s", name, strings.Join(c.names(), ", "))
	}
	return m, nil
}

// SetLink implements cluster.Cluster.
func (c *local) SetLink(_ context.Context, name string, which cluster.Link, shape cluster.Shape) error {
	if err := shape.Validate(); err != nil {
		return fmt.Errorf("cannot shape link %s of member %s: %w", which, name, err)
	}
	m, err := c.look(name)
	if err != nil {
		return err
	}
	found, err := m.link(which)
	if err != nil {
		return err
	}
	found.Set(shape)
	return nil
}

// LinkStats implements cluster.Cluster.
func (c *local) LinkStats(name string, which cluster.Link) (cluster.LinkStats, error) {
	m, err := c.look(name)
	if err != nil {
		return cluster.LinkStats{}, err
	}
	found, err := m.link(which)
	if err != nil {
		return cluster.LinkStats{}, err
	}
	return found.Stats(), nil
}

func (c *local) sites() []*site {
	sites := make([]*site, 0, len(c.members))
	for _, m := range c.members {
		sites = append(sites, m.site)
	}
	return sites
}
