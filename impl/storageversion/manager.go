package storageversion

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/retry"
)

// Config is what a Manager needs to know.
type Config struct {
	// ServerID names the server among the participants; it is the same after a
	// restart. It must be a DNS subdomain.
	ServerID string
	// Hostname goes into a label of the identity Lease.
	Hostname string
	// PeerAddress is put on the identity Lease for the other servers to find; empty
	// if they are not to look for this one.
	PeerAddress string
	// Resources are the persisted built-in resources that the server hosts.
	Resources []Resource
	// Classifier classifies the resource of a request.
	Classifier Classifier
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Rand is where the process takes its instance name and its jitter from. It
	// defaults to a source with an unpredictable seed. Two processes must not be
	// given equal seeds.
	Rand *rand.Rand
	// LeaseDuration defaults to DefaultLeaseDuration. It has whole seconds.
	LeaseDuration time.Duration
	// RenewInterval defaults to DefaultRenewInterval, or to a third of
	// LeaseDuration where that is shorter.
	RenewInterval time.Duration
	// Silent: the storage version API is switched off at this server. It takes part
	// and reports nothing, see silent.go. Resources and what is given to Publish are
	// not looked at then.
	Silent bool
	// Defects are the bugs planted on purpose.
	Defects defects.Set
	// Logger defaults to klog's.
	Logger *klog.Logger
}

func (c *Config) complete() error {
	for _, msg := range validation.IsDNS1123Subdomain(c.ServerID) {
		return fmt.Errorf("server ID %q: %s", c.ServerID, msg)
	}
	for _, msg := range validation.IsValidLabelValue(c.Hostname) {
		return fmt.Errorf("host name %q: %s", c.Hostname, msg)
	}
	if c.Classifier == nil {
		return errors.New("a Classifier is needed")
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.LeaseDuration == 0 {
		c.LeaseDuration = DefaultLeaseDuration
	}
	if c.LeaseDuration < time.Second || c.LeaseDuration%time.Second != 0 {
		return fmt.Errorf("lease duration %v: must be a positive number of whole seconds", c.LeaseDuration)
	}
	if c.RenewInterval == 0 {
		c.RenewInterval = min(DefaultRenewInterval, c.LeaseDuration/3)
	}
	if c.RenewInterval < 0 || c.RenewInterval >= c.LeaseDuration {
		return fmt.Errorf("renew interval %v: must be positive and shorter than the lease duration %v", c.RenewInterval, c.LeaseDuration)
	}
	if c.Logger == nil {
		logger := klog.Background().WithName("storageversion")
		c.Logger = &logger
	}
	return nil
}

// Manager makes an API server take part in the storage version API.
type Manager struct {
	config  Config
	random  *random
	metrics serverMetrics
	place   place
	// holder names this process as holder of the identity Lease.
	holder string
	// repair is poked when an object was seen that lacks our report.
	repair *pile
	// renew is poked when the identity Lease was seen to be not as we left it.
	renew *pile
	// announced are the reports in place; locks keeps two reports in one object
	// from overtaking each other.
	announced *announced
	locks     locks

	// troubles are what has failed and is tried again.
	troubles *retry.Troubles

	// decide is where a planted defect has its place.
	decide decisions

	mu      sync.Mutex
	reports map[string]report
	// custom are the names of those that came through Publish.
	custom  map[string]bool
	clients clients
}

// New returns a Manager; Run makes it work.
func New(config Config) (*Manager, error) {
	if err := config.complete(); err != nil {
		return nil, fmt.Errorf("storage versions: %w", err)
	}
	m := &Manager{
		config:  config,
		random:  newRandom(config.Rand),
		repair:  newPile(),
		renew:   newPile(),
		reports: map[string]report{},
		custom:  map[string]bool{},

		announced: newAnnounced(),
		decide:    sound(),
	}
	m.plant()
	m.metrics = metricsFor(config.ServerID)
	m.troubles = retry.New(config.Clock, retryGauge{config.ServerID})
	m.holder = config.ServerID + "_" + m.random.uuid()
	if config.Silent {
		return m, nil
	}
	for _, resource := range config.Resources {
		if _, twice := m.reports[resource.Name()]; twice {
			return nil, fmt.Errorf("storage versions: %s is listed twice", resource.Name())
		}
		if err := m.add(resource, false); err != nil {
			return nil, fmt.Errorf("storage versions: %w", err)
		}
	}
	return m, nil
}

// add makes the manager publish a resource from now on.
func (m *Manager) add(resource Resource, custom bool) error {
	if err := resource.validate(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.decide.reports(m.config.ServerID, resource) {
		m.reports[r.name] = r
		m.custom[r.name] = custom
	}
	return nil
}

// want is the report for an object, if the server has one.
func (m *Manager) want(name string) (report, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.reports[name]
	return r, ok
}

// names are the objects that the server reports in. Custom resources come first:
// their requests do not wait for the barrier. Otherwise the order is the
// server's own: servers that boot together then meet less often at one object.
func (m *Manager) names() []string {
	m.mu.Lock()
	var custom, builtin []string
	for name := range m.reports {
		if m.custom[name] {
			custom = append(custom, name)
		} else {
			builtin = append(builtin, name)
		}
	}
	m.mu.Unlock()
	m.random.shuffle(custom)
	m.random.shuffle(builtin)
	return append(custom, builtin...)
}

// clients are what the Manager reads and writes through.
type clients struct {
	kubernetes.Interface
}

// UserAgent marks requests of this Manager; it cannot be guessed beforehand.
func (m *Manager) UserAgent() string { return "evenkeel-storageversion/" + m.holder }

// standing says why this server may not store objects now, if so.
func (m *Manager) standing() error {
	return m.why(m.place.read().check(m.config.Clock.Now(), m.config.LeaseDuration))
}

// explained adds to the reason for which a server may not store objects what it has tried in
// vain, so that an operator sees in /readyz and in refusals which request fails and how.
func (m *Manager) explained(reason error) error {
	if reason == nil {
		return nil
	}
	if trouble := m.troubles.Longest(); trouble != nil {
		return fmt.Errorf("%w: %w", reason, trouble)
	}
	return reason
}

// Run joins, registers, and keeps both up until the context ends. It returns an
// error only if the configuration is unusable. The config must lead to the very
// server that the Manager belongs to, as its loopback client.
//
// When Run returns the identity Lease is left in place: a server that restarts
// is the same participant, and what it reported stays true meanwhile.
func (m *Manager) Run(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.UserAgent = m.UserAgent()
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("storage versions: %w", err)
	}
	return m.RunWith(ctx, client)
}

// RunWith is Run with a client of the caller's, such as an aggregated server has one of the
// API server that it is joined to. A client that leads to the server itself must have the
// UserAgent, by which the barrier lets the Manager's own requests pass.
func (m *Manager) RunWith(ctx context.Context, client kubernetes.Interface) error {
	m.mu.Lock()
	m.clients = clients{client}
	m.mu.Unlock()
	member := newMembership(m, client)
	for ctx.Err() == nil {
		err := m.takePart(ctx, client, member)
		if ctx.Err() == nil {
			m.config.Logger.Error(err, "Membership lost, writes are held until this server has joined and registered again", "server", m.config.ServerID)
		}
	}
	return nil
}

// takePart is one membership from joining to its loss.
func (m *Manager) takePart(ctx context.Context, client kubernetes.Interface, member *membership) error {
	m.decide.joins(ctx, client)
	// KEP-2339: membership comes before publication, or else a collector would
	// take the first entries for stale ones.
	if err := member.join(ctx); err != nil {
		return err
	}
	term, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	var workers sync.WaitGroup
	workers.Go(func() { lose(member.keep(term)) })
	workers.Go(func() {
		// Before anything is reported, so that the reports of a server that boots
		// leave out those of servers that are gone.
		m.collectLeases(term, client)
		if m.register(term, client, member) {
			workers.Go(func() { m.keepCollectingLeases(term, client) })
			if !m.config.Silent {
				m.maintain(term, client)
			}
		}
	})
	<-term.Done()
	if ctx.Err() == nil {
		// Now and not when the workers have ended: the barrier is shut whatever
		// they are waiting for. A server that shuts down, on the other hand, stays
		// a participant; requests that it still drains are truthfully announced,
		// until its Lease lapses.
		m.place.write(standing{})
		m.metrics.registered.Set(0)
	}
	workers.Wait()
	if ctx.Err() == nil {
		// After the last worker of this membership. Others may be publishing still.
		m.announced.begin()
	}
	return context.Cause(term)
}

// HealthCheck is the readiness check: it fails while the barrier is shut.
func (m *Manager) HealthCheck() healthz.HealthChecker { return healthCheck{m} }

// WaitRegistered returns once the server has been registered for the first time,
// or with the context's error. It is for what the server itself wants to write as
// it starts.
func (m *Manager) WaitRegistered(ctx context.Context) error {
	select {
	case <-m.place.first():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("storage versions are not published: %w", ctx.Err())
	}
}

// Publish adds a resource that the server begins to host, or changes how it
// stores one. When it returns without error the report is in place, or, before
// Run, will be made first of all. The caller stores no object in the new version
// before MayPersistAs allows it, and none in the old version from the moment
// that it calls. Afterwards the report is maintained like the others.
//
// It fails when the report was tried for ReportPatience. The report may be in place
// all the same, so MayPersistAs allows neither version then; the caller tries again.
func (m *Manager) Publish(ctx context.Context, resource Resource) error {
	if m.config.Silent {
		return nil
	}
	if err := m.add(resource, true); err != nil {
		return err
	}
	client := m.client()
	if client == nil {
		return nil // Run registers it with the others.
	}
	var names []string
	for _, r := range m.decide.reports(m.config.ServerID, resource) {
		names = append(names, r.name)
	}
	return m.reportAll(ctx, client, names, boot)
}

// Withdraw ends what Publish began: the server does not host the resource any
// more. It returns when the report is taken back. The caller stores no object
// of the resource any more when it calls. It fails as Publish does.
func (m *Manager) Withdraw(ctx context.Context, group, resource string) error {
	if m.config.Silent {
		return nil
	}
	name := Name(group, resource)
	m.mu.Lock()
	delete(m.reports, name)
	delete(m.custom, name)
	m.mu.Unlock()
	client := m.client()
	if client == nil {
		return nil // Nothing was reported.
	}
	return m.reportAll(ctx, client, []string{name}, withdraw)
}

// client is nil until Run begins.
func (m *Manager) client() kubernetes.Interface {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clients.Interface
}

// wait pauses, and reports whether it was for the whole time.
func (m *Manager) wait(ctx context.Context, d time.Duration) bool {
	timer := m.config.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-ctx.Done():
		return false
	}
}
