package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/interrupt"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

// History is where a run is recorded; history.Writer is one.
type History interface {
	observe.Recorder
	// Failed is closed when nothing can be recorded any more, and Err says why.
	Failed() <-chan struct{}
	Err() error
}

// Progress is where a run is, for who watches it.
type Progress struct {
	// Index of the step, from 1; 0 while the control plane is brought up.
	Index, Total int
	Action       string
	Phase        history.Phase
	Member       string
	Message      string
}

// Options are what a Runner is made of.
type Options struct {
	Scenario *Scenario
	// Run identifies the run; every object that is written carries it. It must
	// be fit for the name of an object.
	Run     string
	History History
	Clock   clock.WithTicker
	// Rand is the source of all the run's randomness; the Runner owns it.
	Rand *rand.Rand
	// Progress is told of each step, from the goroutine of Play; may be nil.
	Progress func(Progress)
	// NoTraffic leaves out the writes that a run makes as evidence: the traffic, whatever
	// the scenario says, and the probes of booting servers. On an external cluster they
	// are left out unless its topology gives leave.
	NoTraffic bool
	// Probe sends requests that a server must refuse to the servers of an external cluster
	// too. A server that does not refuse them changes its state. All other clusters are
	// always sent them.
	Probe bool
	// Pace is how many objects a second migrations come to, roughly; see cluster.Settings.
	Pace float64
	// LeaveOut says which steps, counted from 1, are not played, and why not; see
	// Scenario.LeaveOut.
	LeaveOut map[int]string
}

// Runner plays one scenario once.
type Runner struct {
	Options
	cluster   cluster.Cluster
	start     map[string]string // the release that each member began with
	faults    *fault.Executor
	active    map[string][]*fault.Active // of inject steps, by file
	recorders *recorders
	backends  map[string]*aggregated // by name
	churned   map[string]bool        // what churns have made, by whether it is there
	// foreignServices are the foreign APIServices that steps have made and not removed, by
	// group.
	foreignServices map[string]*foreignService
	// populations are those of populate steps, and migrated the migrations that were
	// created, by name.
	populations map[string]*population
	migrated    map[string]*migrating
	turn        int                       // of the probes with invalid statuses
	storms      int                       // that were begun
	foreign     cluster.ExternallyManaged // nil where the cluster goes with the run
	made        leftovers
	// owner is what owns all that the run makes in an external cluster, once it is there.
	owner atomic.Pointer[metav1.OwnerReference]
	// ownerless is whether there can be none; owning keeps attempts to make it apart.
	ownerless bool
	owning    sync.Mutex
	// allowance is how much the harness may write to an external cluster; nil where the cluster goes
	// with the run, and where nothing is written to it.
	allowance *workload.Allowance
	// owned are the APIServices and CustomResourceDefinitions that the run makes.
	owned observe.Owned
	// etcdHealth looks at all members' etcd and records what they say.
	etcdHealth func(context.Context) history.EtcdHealth

	lives lives
	// cleaning is whether the recorders of an external cluster have ended, and what the run made is
	// removed.
	cleaning bool
	// stopped are the components that stop steps have stopped and no boot step has started
	// again; an empty component is all of a member.
	stopped map[place]bool
	// at is the step in hand.
	at struct {
		index  int
		action string
		// why says by what the trigger of the step was met, and triggered is the member
		// that has to do with it; both are empty without.
		why, triggered string
	}
	// triggers are those of steps, and armed has them by the index of the step.
	triggers triggers
	armed    map[int]*armed
	// passedOver is whether a step was left out since its trigger was not met.
	passedOver bool
	// unreached is what steps have waited for in vain, in words, and vain how long the
	// steps have taken that failed for that.
	unreached []string
	vain      time.Duration
	// ended is why no further step is played; empty while they are.
	ended    string
	exitLogs exitLogs
}

// New makes a Runner.
func New(options Options) *Runner {
	if options.Progress == nil {
		options.Progress = func(Progress) {}
	}
	r := &Runner{Options: options, active: map[string][]*fault.Active{}, stopped: map[place]bool{}, backends: map[string]*aggregated{}, churned: map[string]bool{}, foreignServices: map[string]*foreignService{}, recorders: &recorders{},
		populations: map[string]*population{}, migrated: map[string]*migrating{}}
	r.etcdHealth = func(ctx context.Context) history.EtcdHealth { return r.recorders.etcd.Health(ctx) }
	return r
}

// ProcessChanged is the Observer that the cluster must be made with.
func (r *Runner) ProcessChanged(change cluster.Change) {
	var log []string
	if r.cluster != nil {
		for _, line := range r.exitLogs.of(r.cluster.LogDir(), change) {
			log = append(log, r.plain(line))
		}
	}
	from := int64(0)
	if change.Ago > 0 && !change.Given {
		from = max(r.History.Now()-int64(change.Ago), 1)
	}
	r.History.Record(history.Event{Kind: history.KindProcess, Member: change.Member, From: from, Given: change.Given, Process: &history.Process{
		Component:        string(change.Component),
		Change:           change.What,
		Instance:         change.Instance,
		PID:              change.Process.PID,
		StartTime:        change.Process.StartTime,
		Release:          change.Release,
		DisabledFeatures: featureNames(change.Off),
		Exit:             change.Exit,
		Expected:         change.Expected,
		Forced:           change.Forced,
		Log:              log,
		SelfReported:     change.Noticed,
	}})
	r.lives.take(change)
	r.recorders.processChanged(change)
}

// Play starts the recorders, brings the cluster up and plays the scenario. It
// returns when all that happened is recorded and the recorders have ended; the
// cluster is left running. An error means that the harness or its machine has
// spoiled the run, or that it was interrupted; it is no verdict. What the control
// plane has not reached is no error: it is in the history, and in End.
func (r *Runner) Play(ctx context.Context, c cluster.Cluster) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel(nil)
	watching.Go(func() {
		select {
		case <-r.History.Failed():
			cancel(r.History.Err())
		case <-ctx.Done():
		}
	})
	r.cluster = c
	r.addTriggers()
	if r.foreign, _ = c.(cluster.ExternallyManaged); r.foreign != nil {
		r.allow()
	}
	defer func() {
		if err != nil {
			err = plainError{err, r.plain(err.Error())}
		}
	}()
	r.faults = fault.NewExecutor(c, fault.NewAPI(r.directConfig, r.Clock), r.History, r.Clock)
	if err := r.check(); err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if r.foreign == nil {
		r.exitLogs.learn(ctx, c)
	}
	if err := r.recorders.begin(ctx, r); err != nil {
		return err
	}
	// What leaves things in order goes on after an interrupt, until a second one.
	orderly, leave := interrupt.Shelter(ctx)
	defer leave()
	defer r.stopBackends()
	defer func() { err = errors.Join(err, r.removeAllForeign(orderly)) }()
	defer func() { err = errors.Join(err, r.cleanUp(orderly)) }()
	defer r.recorders.end()
	defer r.stopMutating()
	defer r.release(orderly)
	defer func() { err = errors.Join(err, r.undoFaults(orderly)) }()

	r.armNext(0)
	if err := r.step(ctx, 0, actionBoot, "", "", r.boot); err != nil {
		// Where no member serves, what keeps it from that may as well be the topology.
		if r.recorders.silent() || r.goOn(ctx, 0, actionBoot, err) != nil {
			return err
		}
	}
	if !r.NoTraffic && !r.Scenario.Traffic.Off {
		r.recorders.beginTraffic(ctx)
	}
	if !r.NoTraffic && r.Scenario.LeaderElection.LeaderActivityProbe {
		r.recorders.beginLeaderActivityProbe(ctx, r)
	}
	if err := r.playAll(ctx); err != nil {
		return err
	}
	r.stopMutating()
	r.release(ctx)
	r.recorders.endTraffic()
	r.recorders.compare(ctx, r)
	// What etcd does is told last: the outcome of every request is in it.
	r.recorders.endProbes()
	_, err = r.catchUp(ctx)
	return r.goOn(ctx, len(r.Scenario.Steps), "end", err)
}

// Playable is an error where a cluster, which need not have begun, cannot play the scenario
// beside the steps that are left out.
func (s *Scenario) Playable(c cluster.Cluster, leaveOut map[int]string) error {
	r := New(Options{Scenario: s, LeaveOut: leaveOut})
	r.cluster = c
	r.addTriggers()
	r.foreign, _ = c.(cluster.ExternallyManaged)
	return r.check()
}

// check refuses what cannot be played before anything runs.
func (r *Runner) check() error {
	r.start = map[string]string{}
	want, err := r.Scenario.StartRelease(r.cluster.Releases())
	if err != nil {
		return fmt.Errorf("%s: %w", r.Scenario.File, err)
	}
	for _, member := range r.cluster.Members() {
		release := r.cluster.Release(member.Name)
		if want != "" && release != want {
			return fmt.Errorf("%s: begins with release %s, but the cluster was made with %s for %s; make it with the scenario's", r.Scenario.File, want, release, member.Name)
		}
		r.start[member.Name] = release
	}
	for i := range r.Scenario.Steps {
		if _, left := r.LeaveOut[i+1]; left {
			continue
		}
		if err := r.checkStep(&r.Scenario.Steps[i]); err != nil {
			return fmt.Errorf("%s: step %d (%s): %w", r.Scenario.File, i+1, r.Scenario.Steps[i].Name(), err)
		}
	}
	_, err = r.releasesAhead()
	return err
}

// releasesAhead are those that the scenario is going to use.
func (r *Runner) releasesAhead() ([]string, error) {
	used, err := r.Scenario.releasesUsed(r.members(), r.start, r.cluster.Releases(), r.LeaveOut)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Scenario.File, err)
	}
	return used, nil
}

// checkStep holds a step against what the cluster has and supports.
func (r *Runner) checkStep(step *Step) error {
	set := step.Action
	if one, ok := set.(checking); ok {
		if err := one.check(r); err != nil {
			return err
		}
	}
	if err := r.checkTrigger(step.When); err != nil {
		return fmt.Errorf("when: %w", err)
	}
	if why := r.Scenario.lackOf(r.cluster, set); why != "" {
		return fmt.Errorf("%s: %w", why, cluster.ErrUnsupported)
	}
	for _, selector := range r.Scenario.allSelectors(set) {
		members, err := r.selectable([]string{selector})
		if known, ok := typeOf(set); ok && known.single() && len(members) > 1 {
			err = fmt.Errorf("%s means %d members, and a %s goes through one", selector, len(members), step.Name())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// allSelectors are the selectors of a step and of the faults that it names.
func (s *Scenario) allSelectors(set Action) []string {
	selectors := selectorsOf(set)
	for _, name := range faultsOf(set) {
		if named := s.Faults[name]; named != nil && named.Member != fault.StepMember {
			selectors = append(selectors, named.Member)
		}
	}
	return selectors
}

// selectable are the members that selectors mean before anything runs, when any
// member stands for the leader.
func (r *Runner) selectable(selectors []string) (members []string, err error) {
	for _, selector := range selectors {
		if selector == selectCoordinator || selector == selectTriggered {
			selector = selectLeader // any member stands for it
		}
		some, err := selectMembers(selector, r.members(), func() (string, error) { return r.members()[0], nil })
		if err != nil {
			return nil, err
		}
		members = append(members, some...)
	}
	return members, nil
}

// prepare has the cluster see to all releases that the scenario is going to
// use, so that what is missing is told before anything runs.
func (r *Runner) prepare(ctx context.Context) error {
	releases, err := r.releasesAhead()
	if err != nil {
		return err
	}
	preparer, ok := r.cluster.(cluster.ReleasePreparer)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, PrepareTimeout, fmt.Errorf("it took longer than %s", PrepareTimeout))
	defer cancel()
	if err := preparer.Prepare(ctx, releases); err != nil {
		return fmt.Errorf("%s cannot be played: %w", r.Scenario.File, err)
	}
	return nil
}

// hosts are the host names that the members' components see.
func (r *Runner) hosts() []string {
	var names []string
	for _, member := range r.cluster.Members() {
		names = append(names, cmp.Or(member.Host, member.Name))
	}
	return names
}

// serverIDs are those under which the members' API servers report.
func (r *Runner) serverIDs() []string {
	var ids []string
	for _, member := range r.cluster.Members() {
		ids = append(ids, member.ServerID)
	}
	return ids
}

func (r *Runner) members() []string {
	var names []string
	for _, member := range r.cluster.Members() {
		names = append(names, member.Name)
	}
	return names
}

// bound is the longest that a step of the action may take.
func (r *Runner) bound(action string) time.Duration {
	switch {
	case action == actionBoot:
		return BootTimeout
	case r.foreign != nil:
		return ForeignTimeout
	}
	return StepTimeout
}

// step does one thing within its bound, and records its begin and end.
func (r *Runner) step(ctx context.Context, index int, action, member, release string, do func(context.Context) error) error {
	return r.stepWithin(ctx, r.bound(action), index, action, member, release, do)
}

// stepWithin is step with another bound than the action's.
func (r *Runner) stepWithin(ctx context.Context, bound time.Duration, index int, action, member, release string, do func(context.Context) error) error {
	ctx, cancel := r.within(ctx, bound, history.AwaitedEnd, member, "it was not over")
	defer cancel()
	r.at.index, r.at.action = index, action
	r.report(index, action, member, release, history.PhaseBegin, r.at.why)
	err := ctx.Err()
	if err == nil {
		err = do(ctx)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
			err = errors.Join(cause, err)
		}
		if index > 0 {
			err = fmt.Errorf("step %d (%s): %w", index, action, err)
		} else {
			err = fmt.Errorf("%s: %w", action, err)
		}
		r.report(index, action, member, release, history.PhaseFailed, err.Error())
		return err
	}
	r.report(index, action, member, release, history.PhaseEnd, "")
	return nil
}

func (r *Runner) report(index int, action, member, release string, phase history.Phase, message string) {
	message = r.plain(message)
	r.History.Record(history.Event{Kind: history.KindStep, Member: member, Step: &history.Step{
		Index: index, Action: action, Phase: phase, Release: release, Message: message,
	}})
	r.Progress(Progress{Index: index, Total: len(r.Scenario.Steps), Action: action, Phase: phase, Member: member, Message: message})
}

// plain replaces the path of the logs by their path in the bundle: the history must not
// publish where a user keeps the bundle.
func (r *Runner) plain(message string) string {
	if dir := r.cluster.LogDir(); dir != "" {
		return strings.ReplaceAll(message, dir, filepath.Base(dir))
	}
	return message
}

// plainError is an error with a text that may be recorded.
type plainError struct {
	error
	text string
}

func (e plainError) Error() string { return e.text }

func (e plainError) Unwrap() error { return e.error }

// actionBoot is what step 0 is called.
const actionBoot = "boot"

// boot brings the control plane up and sets up what the probes need.
func (r *Runner) boot(ctx context.Context) error {
	unready := r.cluster.Start(ctx)
	if r.foreign == nil {
		r.exitLogs.learn(ctx, r.cluster) // some credentials are made as members start
	}
	if unready == nil {
		unready = r.recorders.waitReady(ctx)
	}
	if unready != nil && (r.recorders.silent() || !r.blames(ctx, unready)) {
		return unready
	}
	if r.writesToForeign() {
		if err := r.makeNamespace(ctx, r.recorders.serving(), ownName(r.Run)); err != nil {
			r.report(0, "prerequisites", "", "", history.PhaseFailed, err.Error())
		}
	}
	// A control plane that cannot host the prerequisites can still be judged by
	// everything else; the history has the failed requests.
	err := r.recorders.setUp(ctx, r)
	if err == nil && r.probesCustom() {
		err = r.recorders.awaitCustom(ctx, r)
	}
	if err != nil && ctx.Err() == nil {
		r.report(0, "prerequisites", "", "", history.PhaseFailed, err.Error())
	}
	return cmp.Or(unready, r.outlastBeginning(ctx))
}

// outlastBeginning waits on a cluster that was there before the run until what is judged by its
// etcd and its processes counts, so that no step is played in vain.
func (r *Runner) outlastBeginning(ctx context.Context) error {
	if r.foreign == nil || r.foreign.Lacks(cluster.MeansEtcd) != "" && r.foreign.Lacks(cluster.MeansProcesses) != "" {
		return nil
	}
	return r.wait(ctx, history.BeginningSettles-time.Duration(r.History.Now()))
}

// probesCustom is whether it matters that custom resources can be written to
// before the steps begin; waiting for that takes seconds.
func (r *Runner) probesCustom() bool {
	return !r.NoTraffic && slices.Contains(r.Scenario.Judges, "SV-13")
}

// settle waits until nothing is on its way any more: all members are ready but
// those that were stopped on purpose, all changes are recorded and shown by all
// members, and the StorageVersions have been quiet for a while.
func (r *Runner) settle(ctx context.Context) error {
	ctx, cancel := r.within(ctx, SettleTimeout, history.AwaitedQuiet, "", "the control plane did not settle")
	defer cancel()
	for {
		if err := r.waitAllReady(ctx); err != nil {
			return err
		}
		if _, err := r.catchUp(ctx); err != nil {
			return err
		}
		since := r.History.Now()
		for _, member := range r.recorders.waitShown(ctx) {
			r.passOver(ctx, since, ShownTimeout, history.AwaitedState, member, "its clients were not shown the latest StorageVersions")
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		quiet := r.recorders.etcd.AgreementQuiet()
		if quiet >= SettleQuiet {
			return nil
		}
		if err := r.wait(ctx, max(SettleQuiet-quiet, SettleLook)); err != nil {
			return err
		}
	}
}

// waitAllReady waits for all members but those that were stopped on purpose. Of those
// that were waited for in vain before, not for long.
func (r *Runner) waitAllReady(ctx context.Context) error {
	hopeful, givenUp := r.recorders.hopes()
	var errs []error
	if len(hopeful) > 0 {
		errs = append(errs, r.recorders.waitReady(ctx, hopeful...))
	}
	if len(givenUp) > 0 {
		again, cancel := r.within(ctx, AgainTimeout, history.AwaitedReady, "", "they were not ready")
		defer cancel()
		errs = append(errs, r.recorders.waitReady(again, givenUp...))
	}
	return errors.Join(errs...)
}

// catchUp waits until all that etcd has by now is recorded, and returns etcd's
// revision from before. That no etcd answers is the control plane's doing; that the
// recorder does not keep up with one that does, the harness'.
func (r *Runner) catchUp(ctx context.Context) (int64, error) {
	reading, cancel := r.within(ctx, CatchUpTimeout, history.AwaitedEtcd, "", "no member's etcd answered")
	defer cancel()
	for {
		revision, err := r.recorders.etcd.Revision(reading)
		if err == nil {
			recording, cancel := context.WithTimeoutCause(ctx, CatchUpTimeout, fmt.Errorf("the recorder of etcd did not catch up within %s", CatchUpTimeout))
			defer cancel()
			return revision, r.recorders.etcd.WaitFor(recording, revision)
		}
		if late := r.wait(reading, SettleLook); late != nil {
			if none := (*unreached)(nil); errors.As(late, &none) && none.Awaited == history.AwaitedEtcd {
				none.Message += ": " + err.Error()
			}
			return 0, late
		}
	}
}

// wait lets time pass, or returns an error when the context ends before.
func (r *Runner) wait(ctx context.Context, d time.Duration) error {
	timer := r.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// releases that the members run.
func (r *Runner) releases() map[string]string {
	releases := maps.Clone(r.start)
	for member := range releases {
		releases[member] = r.cluster.Release(member)
	}
	return releases
}

// undoTimeout bounds the healing of faults after a run was cut short. A hook that takes
// something back must come to its end.
func (r *Runner) undoTimeout() time.Duration {
	if r.foreign != nil {
		return ForeignTimeout
	}
	return UndoTimeout
}

// undoFaults heals the faults that are active at the end, so that the run does not leave a
// cluster with faulty links.
func (r *Runner) undoFaults(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.undoTimeout())
	defer cancel()
	var errs []error
	for _, injected := range r.active {
		for _, one := range injected {
			errs = append(errs, one.Undo(ctx))
		}
	}
	clear(r.active)
	return errors.Join(errs...)
}
