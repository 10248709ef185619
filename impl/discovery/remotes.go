package discovery

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Backend is how an aggregated server is reached. Group-versions of which it is
// the same are fetched together.
type Backend struct {
	// Namespace, Name and Port are those of a Service.
	Namespace, Name string
	Port            int32
	// CABundle, in PEM, signed the certificate of the server; empty means an
	// authority that the system knows.
	CABundle string
	// Insecure: its certificate is not looked at.
	Insecure bool
}

// address is the Service alone: a change of the CA or of the TLS verification does not
// make it another server.
func (b Backend) address() string {
	return net.JoinHostPort(b.Name+"."+b.Namespace+".svc", strconv.Itoa(int(b.Port)))
}

// Service is a group-version that an aggregated server hosts.
type Service struct {
	GroupVersion schema.GroupVersion
	Priority     Priority
	Backend      Backend
}

// Dial returns what carries requests to a backend. Their URL names the Service;
// finding out where that is, is up to the transport.
type Dial func(Backend) (http.RoundTripper, error)

// Remotes keeps what aggregated servers host in a Catalog. Each server is asked
// by a worker of its own, so that none can hold up another.
type Remotes struct {
	catalog *Catalog
	dial    Dial
	rhythm  *rhythm
	hooks   remoteHooks

	mu       sync.Mutex
	ctx      context.Context // nil until Run
	services map[schema.GroupVersion]Service
	// listed is how each of them is listed now.
	listed  map[schema.GroupVersion]apidiscoveryv2.APIVersionDiscovery
	workers map[Backend]*worker
	// Failed is called when an aggregated server fails that had not before. It may be nil.
	Failed func()
}

// remoteHooks are where defects are planted in what aggregated servers host, one for each
// decision. Those of soundRemotes change nothing.
type remoteHooks struct {
	// tracks and untracks are whether a group-version is taken up, and taken out, now.
	tracks   func(Service) bool
	untracks func(schema.GroupVersion) bool
	// listed is how a group-version is listed before its server was asked, and untracked comes
	// before it is taken out.
	listed    func(schema.GroupVersion) apidiscoveryv2.APIVersionDiscovery
	untracked func(schema.GroupVersion)
	// adopts is what becomes of the group-versions of a server by an answer.
	adopts func(w *worker, failed bool) relister
	// adopted comes after that.
	adopted func(w *worker, a answer, failure error)
}

func soundRemotes() remoteHooks {
	return remoteHooks{
		tracks: func(Service) bool { return true }, untracks: func(schema.GroupVersion) bool { return true },
		listed: unfetched, untracked: func(schema.GroupVersion) {},
		adopts:  func(*worker, bool) relister { return relisted },
		adopted: func(*worker, answer, error) {},
	}
}

// relister is a function that decides as relisted does.
type relister func(before apidiscoveryv2.APIVersionDiscovery, version schema.GroupVersion, a answer, failure error) (next apidiscoveryv2.APIVersionDiscovery, changes bool)

// relisted is how a group-version is listed after its server was asked. It does not change if the
// answer says nothing about it: then it came up while the fetch was under way, and its own is
// about to follow.
//
// KEP-3352, "Aggregation": what could not be fetched is Stale.
func relisted(before apidiscoveryv2.APIVersionDiscovery, version schema.GroupVersion, a answer, failure error) (apidiscoveryv2.APIVersionDiscovery, bool) {
	switch {
	case failure != nil && (a.asked == nil || !a.covers(version)):
		return outdated(before), true
	case a.covers(version):
		return fetched(version, a), true
	}
	return before, false
}

// worker asks one server.
type worker struct {
	backend Backend
	stop    context.CancelFunc
	// hurry is poked when there is a reason to ask before the interval is over.
	hurry chan struct{}

	// Only the worker itself uses the rest.

	// last is the last complete answer, which has the tag.
	last answer
	// inARow counts the conditional fetches since then.
	inARow int
	failed int
}

// NewRemotes returns one that knows no servers. The source of randomness
// scatters fetches.
func NewRemotes(catalog *Catalog, dial Dial, clock clock.WithTicker, random *rand.Rand) *Remotes {
	return &Remotes{
		catalog: catalog, dial: dial, rhythm: newRhythm(clock, random), hooks: soundRemotes(),
		services: map[schema.GroupVersion]Service{},
		listed:   map[schema.GroupVersion]apidiscoveryv2.APIVersionDiscovery{},
		workers:  map[Backend]*worker{},
	}
}

// Run fetches until the context ends.
func (r *Remotes) Run(ctx context.Context) {
	r.mu.Lock()
	r.ctx = ctx
	for _, service := range r.services {
		r.employLocked(service.Backend)
	}
	r.mu.Unlock()
	<-ctx.Done()
}

// Track lists a group-version, at first as not fetched, and makes a worker fetch it
// soon. If the Service of a group-version changes, Track begins again: the resources
// of the earlier Service say nothing about the new one.
func (r *Remotes) Track(service Service) {
	version := service.GroupVersion
	if !r.hooks.tracks(service) {
		return
	}
	if version.Group == "" {
		// The core group is this server's own; see Kubernetes' own servers.
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before, had := r.services[version]
	r.services[version] = service
	if !had || before.Backend.address() != service.Backend.address() {
		r.listed[version] = r.hooks.listed(version)
	}
	r.listLocked(version)
	if had && before == service {
		return
	}
	if had && before.Backend != service.Backend {
		r.dismissLocked(before.Backend)
	}
	if !r.employLocked(service.Backend) {
		r.hurryLocked(service.Backend)
	}
}

// Untrack takes a group-version out. Nothing of it comes back, also not from a
// fetch that is under way.
func (r *Remotes) Untrack(version schema.GroupVersion) {
	if !r.hooks.untracks(version) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	service, had := r.services[version]
	if !had {
		return
	}
	delete(r.services, version)
	delete(r.listed, version)
	r.hooks.untracked(version)
	r.catalog.Remove(Remote, version)
	r.dismissLocked(service.Backend)
}

// Hurry has a group-version fetched soon, because its server may have changed.
func (r *Remotes) Hurry(version schema.GroupVersion) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if service, ok := r.services[version]; ok {
		r.hurryLocked(service.Backend)
	}
}

func (r *Remotes) hurryLocked(backend Backend) {
	if w, ok := r.workers[backend]; ok {
		select {
		case w.hurry <- struct{}{}:
		default:
		}
	}
}

// listLocked puts a group-version into the catalog as it is known.
func (r *Remotes) listLocked(version schema.GroupVersion) {
	r.catalog.Set(Entry{Source: Remote, Group: version.Group, Priority: r.services[version].Priority, Version: r.listed[version]})
}

// employLocked makes sure that a worker polls a backend. It reports whether it started
// a new worker, which polls at once.
func (r *Remotes) employLocked(backend Backend) bool {
	if _, ok := r.workers[backend]; ok || r.ctx == nil {
		return false
	}
	ctx, stop := context.WithCancel(r.ctx)
	w := &worker{backend: backend, stop: stop, hurry: make(chan struct{}, 1)}
	r.workers[backend] = w
	go r.work(ctx, w)
	return true
}

// dismissLocked ends the worker of a backend that nothing leads to any more.
func (r *Remotes) dismissLocked(backend Backend) {
	w, ok := r.workers[backend]
	if !ok || len(r.versionsLocked(backend)) > 0 {
		return
	}
	w.stop()
	delete(r.workers, backend)
}

// versionsLocked are the group-versions that a backend hosts.
func (r *Remotes) versionsLocked(backend Backend) []schema.GroupVersion {
	var versions []schema.GroupVersion
	for version := range maps.Keys(r.services) {
		if r.services[version].Backend == backend {
			versions = append(versions, version)
		}
	}
	slices.SortFunc(versions, func(a, b schema.GroupVersion) int { return strings.Compare(a.String(), b.String()) })
	return versions
}

func (r *Remotes) work(ctx context.Context, w *worker) {
	defer w.stop()
	r.rhythm.keep(ctx, w.hurry, func() int {
		r.ask(ctx, w)
		return w.failed
	})
}

// ask fetches once and lists what follows.
func (r *Remotes) ask(ctx context.Context, w *worker) {
	r.mu.Lock()
	versions := r.versionsLocked(w.backend)
	r.mu.Unlock()
	tag := ""
	if conditional(w.last.tag, w.inARow) {
		tag = w.last.tag
	}
	a, err := r.fetch(ctx, w.backend, tag, versions)
	if ctx.Err() != nil {
		return
	}
	logger := klog.FromContext(ctx).WithValues("service", w.backend.address())
	outcome := "fetched"
	switch {
	case err != nil:
		outcome = "failed"
		if w.failed == 0 {
			logger.Info("Cannot fetch discovery from an aggregated server; its group-versions are marked Stale", "reason", err)
			if r.Failed != nil {
				r.Failed()
			}
		}
		w.failed++
	case w.failed > 0:
		logger.Info("An aggregated server answers again", "failed", w.failed)
		w.failed = 0
	}
	switch {
	case err != nil:
	case a.unchanged:
		outcome = "unchanged"
		w.inARow++
		a = w.last
	default:
		w.inARow = 0
		w.last = answer{}
		if a.asked == nil {
			w.last = a
		}
		r.downloaded(logger, w.backend, a)
	}
	fetches.WithLabelValues(outcome).Inc()
	r.adoptAnswer(w, a, err)
}

// downloaded logs whose discovery was fetched, in the words by which operators look for it
// (KEP-3352, Troubleshooting): an aggregated server without such a line is unavailable.
func (r *Remotes) downloaded(logger klog.Logger, backend Backend, a answer) {
	if !logger.V(downloadVerbosity).Enabled() {
		return
	}
	form := "discovery"
	if a.asked != nil {
		form = "legacy discovery"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, version := range r.versionsLocked(backend) {
		if a.covers(version) {
			logger.V(downloadVerbosity).Info("DiscoveryManager: successfully downloaded " + form + " for " + version.Version + "." + version.Group)
		}
	}
}

// adoptAnswer lists what a server said of the group-versions that it hosts. What
// it said of others is none of its business.
func (r *Remotes) adoptAnswer(w *worker, a answer, failure error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.workers[w.backend] != w {
		return
	}
	relist := r.hooks.adopts(w, failure != nil)
	for _, version := range r.versionsLocked(w.backend) {
		if next, changes := relist(r.listed[version], version, a, failure); changes {
			r.listed[version] = next
			r.listLocked(version)
		}
	}
	r.hooks.adopted(w, a, failure)
}

func (r *Remotes) fetch(ctx context.Context, backend Backend, tag string, versions []schema.GroupVersion) (answer, error) {
	transport, err := r.dial(backend)
	if err != nil {
		return answer{}, fmt.Errorf("connect: %w", err)
	}
	return fetcher{transport: transport, host: backend.address()}.fetch(ctx, tag, versions)
}
