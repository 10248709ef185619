package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/workload"
	"github.com/evenkeel/evenkeel/pkg/workload/backend"
)

// recorders are all that runs beside the steps.
type recorders struct {
	mu      sync.Mutex
	members []*memberRecorders
	// listeners are told of every change of a process.
	listeners []func(cluster.Change)

	// tagger numbers the writes of all that write.
	tagger *workload.Tagger
	etcd   *observe.Etcd
	// reads is nil where the harness writes nothing that could be read.
	reads         *observe.Reads
	backend       *backend.Server
	prerequisites *workload.Prerequisites

	stopEtcd, stopProbes, stopTraffic context.CancelFunc
	running, probes, traffic          sync.WaitGroup
}

// memberRecorders are those of one member.
type memberRecorders struct {
	name   string
	prober *observe.Prober
	// documents is nil where the scenario does not look at discovery.
	documents *observe.Documents
	watch     *observe.ObjectWatch
	// migrations is nil where the scenario does not have them watched.
	migrations *observe.ObjectWatch
	traffic    *workload.Traffic
	// givenUp is whether a step has waited in vain until its API server is ready.
	givenUp bool
}

func (rs *recorders) processChanged(change cluster.Change) {
	rs.mu.Lock()
	listeners := rs.listeners
	rs.mu.Unlock()
	for _, listener := range listeners {
		listener(change)
	}
}

// listen has changes of processes told to one more.
func (rs *recorders) listen(listener func(cluster.Change)) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.listeners = append(rs.listeners, listener)
}

// begin starts everything but the traffic, before the cluster's processes
// exist.
func (rs *recorders) begin(ctx context.Context, r *Runner) error {
	etcd, stopEtcd := context.WithCancel(ctx)
	ctx, rs.stopProbes = context.WithCancel(ctx)
	rs.stopEtcd, rs.stopTraffic = stopEtcd, func() {}
	rs.prerequisites = &workload.Prerequisites{}
	if r.foreign != nil {
		rs.prerequisites.Namespace = ownName(r.Run)
	}
	told := observe.TellForeign(r.History, r.hosts(), r.serverIDs())
	switch why := r.lacks(cluster.MeansEtcd); {
	case why != "":
		rs.etcd = observe.NewUnreadEtcd(r.members(), why, told, r.Clock)
	case r.foreign != nil:
		rs.etcd = observe.NewMidwayEtcd(r.members(), r.cluster.EtcdConfig, told, r.Clock)
	default:
		rs.etcd = observe.NewEtcd(r.members(), r.cluster.EtcdConfig, told, r.Clock)
	}
	var hosts []string
	for _, member := range r.cluster.Members() {
		hosts = append(hosts, cmp.Or(member.Host, member.Name))
	}
	rs.etcd.KeepLeasesOf(hosts)
	if r.foreign != nil {
		rs.etcd.OnlyOwn(ownName(r.Run))
	}
	rs.running.Go(func() { rs.etcd.Run(etcd) })

	rs.running.Go(func() { r.starvation().Run(etcd) })

	for _, one := range workload.Owned() {
		r.owned.Note(one.Resource, one.Name)
	}
	rs.probes.Go(func() { observe.NewForeign(r.members(), r.directConfig, r.History, &r.owned, r.Clock).Run(ctx) })
	if balanced, ok := r.cluster.(cluster.LoadBalanced); ok {
		if config, ok := balanced.BalancerConfig(); ok {
			rs.probes.Go(func() { observe.NewBalancer(config, r.History, r.Clock).Run(ctx) })
		}
	}
	rs.tagger = &workload.Tagger{}
	if !r.NoTraffic {
		rs.reads = observe.NewReads(rs.etcd, r.History)
	}
	library := observe.NewLibrary()
	for _, name := range r.members() {
		config := func() (*rest.Config, error) { return r.directConfig(name) }
		hammer := observe.NewHammer(name, config, r.History, r.Clock,
			r.allowance.Limit(workload.Probes(r.allPlaced(r.Scenario.Workloads), rs.prerequisites, r.objectPrefix(), name, rs.tagger, r.Clock)))
		// The users of an external cluster own its custom resources: only those of the harness are
		// known to the recorder of etcd, and so asked for.
		custom := observe.NewCustomResources(name, rs.etcd, r.History)
		customHammer := observe.NewCustomHammer(name, config, r.History, r.Clock, custom)
		documents := (*observe.Documents)(nil)
		if r.Scenario.Discovery.Record {
			documents = observe.NewDocuments(name, config, r.History, library, r.Clock)
		}
		onReady := func(instance int) {
			if documents != nil {
				documents.Ready(instance) // first: what it tells of that very moment counts
			}
			hammer.Ready(instance)
			customHammer.Ready(instance)
		}
		member := &memberRecorders{
			name:      name,
			documents: documents,
			watch:     observe.NewStorageVersionWatch(name, config, r.History, r.Clock),
			prober:    observe.NewProber(name, config, r.History, rs.etcd, r.Clock, onReady),
			// Each member draws from a source of its own, because they run at once.
			traffic: workload.NewTraffic(r.allPlaced(r.Scenario.Workloads), r.objectPrefix(), name, config, r.History, rs.tagger, r.Clock,
				rand.New(rand.NewPCG(r.Rand.Uint64(), r.Rand.Uint64()))),
		}
		member.traffic.Allowance = r.allowance
		if r.Scenario.Migrations.Watch {
			member.migrations = observe.NewMigrationWatch(name, config, r.History, r.Clock)
			rs.probes.Go(func() { member.migrations.Run(ctx) })
		}
		rs.mu.Lock()
		rs.members = append(rs.members, member)
		// What runs already as the recorders begin is not started, so that no booting server is probed.
		rs.listeners = append(rs.listeners, member.prober.ProcessChanged, starts(hammer.ProcessChanged), member.traffic.ProcessChanged)
		if r.foreign == nil || r.writesToForeign() {
			rs.listeners = append(rs.listeners, custom.ProcessChanged, starts(customHammer.ProcessChanged))
			rs.probes.Go(func() { customHammer.Run(ctx) })
		}
		if documents != nil {
			rs.listeners = append(rs.listeners, documents.ProcessChanged)
			rs.probes.Go(func() { documents.Run(ctx) })
		}
		rs.mu.Unlock()
		rs.probes.Go(func() { member.prober.Run(ctx) })
		rs.probes.Go(func() { member.watch.Run(ctx) })
		if !r.NoTraffic {
			rs.probes.Go(func() { hammer.Run(ctx) })
		}
	}
	if !r.NoTraffic {
		rs.probes.Go(func() { rs.visibility(r).Run(ctx) })
	}
	return nil
}

// starvation is the recorder of how starved the machine is. That of an external cluster is
// another one.
func (r *Runner) starvation() *observe.Starvation {
	folder := r.cluster.LogDir()
	if r.foreign != nil {
		folder = ""
	}
	return observe.NewStarvation(r.cluster, folder, r.History, r.Clock)
}

// end stops everything and waits for it.
func (rs *recorders) end() {
	rs.endTraffic()
	rs.endProbes()
	rs.stopEtcd()
	rs.running.Wait()
	if rs.backend != nil {
		// Stop cuts its connections; an error of that concerns no request of the run.
		_ = rs.backend.Stop()
	}
}

// beginLeaderActivityProbe gives leaders something to do until the probes end.
func (rs *recorders) beginLeaderActivityProbe(ctx context.Context, r *Runner) {
	ctx, stop := context.WithCancel(ctx)
	before := rs.stopProbes
	rs.stopProbes = func() { stop(); before() }
	probe := workload.NewLeaderActivityProbe(r.members(), r.client, r.Clock)
	probe.Allowance = r.allowance
	rs.probes.Go(func() { probe.Run(ctx) })
}

func (rs *recorders) beginTraffic(ctx context.Context) {
	ctx, rs.stopTraffic = context.WithCancel(ctx)
	for _, member := range rs.members {
		rs.traffic.Go(func() { member.traffic.Run(ctx) })
	}
}

func (rs *recorders) endTraffic() {
	rs.stopTraffic()
	rs.traffic.Wait()
}

// endProbes ends everything that asks the API servers.
func (rs *recorders) endProbes() {
	rs.stopProbes()
	rs.probes.Wait()
}

// waitShown waits until clients of every member have been shown what etcd has,
// for a while: it is for the checks to say what a member must show. It gives the members
// that have not shown it by then.
func (rs *recorders) waitShown(ctx context.Context) (late []string) {
	ctx, cancel := context.WithTimeout(ctx, ShownTimeout)
	defer cancel()
	revision := rs.etcd.AgreementRevision()
	for _, member := range rs.members {
		if !member.prober.Down() {
			if member.watch.WaitFor(ctx, revision) != nil {
				late = append(late, member.name)
			}
		}
	}
	return late
}

// waitReady waits for the named members, or for all but those whose API server
// was stopped on purpose. The error tells of each that is not ready.
func (rs *recorders) waitReady(ctx context.Context, names ...string) error {
	var errs []error
	for _, member := range rs.members {
		if len(names) > 0 && !slices.Contains(names, member.name) || len(names) == 0 && member.prober.Down() {
			continue
		}
		errs = append(errs, member.prober.WaitReady(ctx))
	}
	return errors.Join(errs...)
}

// hopes parts the members whose API server was not stopped on purpose into those to wait
// for and those that were waited for in vain, and are not ready since.
func (rs *recorders) hopes() (hopeful, givenUp []string) {
	for _, member := range rs.members {
		switch {
		case member.prober.Down():
		case member.givenUp && !member.prober.Ready():
			givenUp = append(givenUp, member.name)
		default:
			member.givenUp = false
			hopeful = append(hopeful, member.name)
		}
	}
	return hopeful, givenUp
}

// giveUp notes that a member was waited for in vain.
func (rs *recorders) giveUp(name string) {
	for _, member := range rs.members {
		member.givenUp = member.givenUp || member.name == name
	}
}

// silent is whether no API server is ready though one is meant to run.
func (rs *recorders) silent() bool {
	meant := false
	for _, member := range rs.members {
		if member.prober.Ready() {
			return false
		}
		meant = meant || !member.prober.Down()
	}
	return meant
}

// serving is a member whose API server is ready, the first one if none is.
func (rs *recorders) serving() string {
	for _, member := range rs.members {
		if member.prober.Ready() {
			return member.name
		}
	}
	return rs.members[0].name
}

// setUp makes what the probes of some classes need, through the first member.
func (rs *recorders) setUp(ctx context.Context, r *Runner) error {
	// The prerequisites are for the probes of booting servers.
	probed := r.Scenario.CRD != nil && (r.foreign == nil || r.writesToForeign())
	if probed && r.foreign != nil && r.lacks(cluster.MeansAddress) != "" {
		return rs.setUpCustom(ctx, r)
	}
	if !probed && (len(r.Scenario.Discovery.Backends) == 0 || r.lacks(cluster.MeansAddress) != "") {
		return nil
	}
	host, err := r.backendHost(ctx)
	if err != nil {
		return err
	}
	if err := r.startBackends(host); err != nil {
		return err
	}
	if !probed {
		return nil
	}
	server, err := backend.Start(host, workload.BackendGroup, r.Clock.Now())
	if err != nil {
		return err
	}
	rs.backend = server
	client, err := r.client(rs.serving())
	if err != nil {
		return err
	}
	defer client.Close()
	return rs.prerequisites.SetUp(ctx, client, r.Scenario.CRD, server.Host(), server.Port(), r.Clock)
}

// setUpCustom makes the custom resource of the probes in a cluster whose API servers do not reach
// this machine.
func (rs *recorders) setUpCustom(ctx context.Context, r *Runner) error {
	client, err := r.client(rs.serving())
	if err != nil {
		return err
	}
	defer client.Close()
	return rs.prerequisites.SetUpCustom(ctx, client, r.Scenario.CRD, r.Clock)
}

// starts are the changes of processes but those that are told of since the process ran before.
func starts(listener func(cluster.Change)) func(cluster.Change) {
	return func(change cluster.Change) {
		if !change.Given {
			listener(change)
		}
	}
}

// backendHost is the host of this machine at which API servers reach a server of the
// harness.
func (r *Runner) backendHost(ctx context.Context) (string, error) {
	if apart, ok := r.cluster.(cluster.HostAddressProvider); ok {
		return apart.HostAddress(ctx)
	}
	return "localhost", nil
}

// awaitCustom returns when the custom resource of the probes can be written to.
func (rs *recorders) awaitCustom(ctx context.Context, r *Runner) error {
	client, err := r.client(rs.serving())
	if err != nil {
		return err
	}
	defer client.Close()
	return rs.prerequisites.AwaitCustom(ctx, client, r.Clock)
}

// look does what belongs to the end of a hold: what each member hosts, and
// whether it refuses statuses that it must refuse.
func (rs *recorders) look(ctx context.Context, r *Runner) error {
	errs := make([]error, len(rs.members))
	var looking sync.WaitGroup
	for i, member := range rs.members {
		turn := r.turn + i
		looking.Go(func() {
			client, err := r.client(member.name)
			if err != nil {
				errs[i] = fmt.Errorf("look at %s: %w", member.name, err)
				return
			}
			defer client.Close()
			member.prober.Look(ctx, client)
			if member.documents != nil {
				member.documents.Sweep(ctx, client)
			}
			if r.foreign == nil || r.Probe {
				observe.ProbeInvalidStatus(ctx, client, turn)
			}
			if member.migrations != nil && !member.prober.Down() {
				observe.ListMigrations(ctx, client, r.Clock)
			}
		})
	}
	looking.Wait()
	r.turn += len(rs.members)
	return errors.Join(append(errs, ctx.Err())...)
}
