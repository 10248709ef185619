package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/registry"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

// Populate creates objects through the members in turn. They stay unchanged until a Mutate.
type Populate struct {
	// Name is the name by which later steps refer to the objects.
	Name string `yaml:"name"`
	// Workloads names files in the fixtures' folder of workloads. The step uses the first
	// one whose resource the control plane serves and does not store in its newest version
	// yet; if there is none, the first one whose resource it serves.
	Workloads []string `yaml:"workloads"`
	// Count is the number of objects. Alternatively MigrationDuration is how long a
	// migration of them is to take at the control plane's migration rate, from which the
	// step derives the number.
	Count             int           `yaml:"count,omitempty"`
	MigrationDuration time.Duration `yaml:"migrationDuration,omitempty"`
	// Namespace is a namespace that the step creates for the objects. Without it they are in
	// the existing namespace of the workload.
	Namespace string `yaml:"namespace,omitempty"`
	// Timeout is how long the step may take, if that is longer than the default.
	Timeout time.Duration `yaml:"timeout,omitempty"`
}

var _ = register("populate", func() Action { return &Populate{} }, registry.Fields{
	"name":              registry.Names(namesPopulation),
	"workloads":         workloads,
	"count":             registry.Count(1, 150_000, 1, 30, 499, 501, 2000).In("count"),
	"migrationDuration": registry.Between(time.Second, longestHold, 4*time.Second, 12*time.Second, 30*time.Second).In("migrationDuration"),
	"namespace":         registry.AnyText("rear-hold"),
	"timeout":           registry.Between(StepTimeout, longestTimeout),
}, cluster.WritesObjects)

func (p *Populate) workloads() []string               { return p.Workloads }
func (p *Populate) within(*Runner, int) time.Duration { return p.Timeout }

func (p *Populate) name(n *names) error {
	if p.Namespace != "" {
		n.of("population with a namespace of its own")[p.Name] = true
	}
	return n.make("population", p.Name)
}

func (p *Populate) cost() time.Duration {
	return stepCost + time.Duration(p.Count)*objectCost + p.MigrationDuration
}

func (p *Populate) play(ctx context.Context, r *Runner, _ target) error { return r.populate(ctx, p) }

// populationRole begins the names of populations' objects, after the member that
// owns them, so that they are told from those of the traffic.
const populationRole = "p-"

// population are the objects of a populate step. Each has one member that writes
// it, so that what becomes of a write is known from its answer.
type population struct {
	workload *workload.Workload
	sources  map[string]*workload.Source // by member
	// held are those of its objects that are deleted and held, by member.
	held map[string]*workload.Held
	// stop ends the writes of the mutate step, if there are any, and done waits for that.
	stop context.CancelFunc
	done sync.WaitGroup
}

func (p *Populate) validate() error {
	if p.Name == "" {
		return errors.New("name is missing")
	}
	if len(p.Workloads) == 0 || p.Count < 0 || p.MigrationDuration < 0 || (p.Count > 0) == (p.MigrationDuration > 0) {
		return errors.New("workloads must be there, and either count or migrationDuration, which are positive")
	}
	if p.Timeout < 0 {
		return errors.New("timeout must not be negative")
	}
	return nil
}

// objects is how many there are to be where a migration comes to pace objects a second.
func (p *Populate) objects(pace float64) int {
	if p.Count > 0 {
		return p.Count
	}
	return int(math.Ceil(p.MigrationDuration.Seconds() * pace))
}

// Written are the workloads of the scenario, and of each resource one.
func (s *Scenario) Written() []*workload.Workload {
	type resource struct{ group, resource string }
	taken := map[resource]bool{}
	var all []*workload.Workload
	add := func(w *workload.Workload) {
		if w == nil || taken[resource{w.Spec.Group, w.Spec.Resource}] {
			return
		}
		taken[resource{w.Spec.Group, w.Spec.Resource}] = true
		all = append(all, w)
	}
	for _, w := range s.Workloads {
		add(w)
	}
	for i := range s.Steps {
		for _, name := range workloadsOf(s.Steps[i].Action) {
			add(s.Populations[name])
		}
	}
	return all
}

// populate writes the objects of a step, through all members at once, of which
// each gets the same number.
func (r *Runner) populate(ctx context.Context, step *Populate) error {
	members := r.members()
	chosen, err := r.served(ctx, step)
	if err != nil {
		return err
	}
	p := &population{sources: map[string]*workload.Source{}, stop: func() {}}
	if step.Namespace != "" {
		if chosen.Spec.Namespace == "" {
			return fmt.Errorf("%s are in no namespace, and cannot be populated in %s", chosen.Spec.Resource, step.Namespace)
		}
		namespace := step.Namespace
		if r.foreign != nil {
			namespace = ownName(r.Run + "-" + namespace)
		}
		if err := r.sendNamespace(ctx, members[0], namespace); err != nil {
			return err
		}
		chosen = chosen.Within(namespace)
	} else {
		chosen = r.placed(chosen)
	}
	if left, bounded := r.allowance.Left(); bounded && int64(step.objects(r.Pace)) > left {
		return fmt.Errorf("the step writes %d objects, and the budget has %d requests left: raise spec.external.traffic.budget of the topology", step.objects(r.Pace), left)
	}
	p.workload = chosen.Holding((step.objects(r.Pace) + len(members) - 1) / len(members))
	for _, member := range members {
		p.sources[member] = workload.NewSource(p.workload, r.objectPrefix(), member, populationRole+step.Name, r.recorders.tagger, r.Clock)
	}
	r.populations[step.Name] = p
	r.recorders.listen(func(change cluster.Change) {
		// Another process may serve other versions.
		if source := p.sources[change.Member]; source != nil && change.Component == cluster.APIServer && change.What == history.ProcessStarted {
			source.Reset()
		}
	})
	if err := each(members, func(member string) error {
		client, err := r.client(member)
		if err != nil {
			return err
		}
		defer client.Close()
		if err := r.fill(ctx, client, p.sources[member]); err != nil {
			return fmt.Errorf("populate %s through %s: %w", p.workload.Spec.Resource, member, err)
		}
		return nil
	}); err != nil || step.Namespace != "" {
		return err
	}
	return p.hold(ctx, r, step.Name)
}

// fill writes the objects of a source, several at a time where there are many.
func (r *Runner) fill(ctx context.Context, client *observe.Client, source *workload.Source) error {
	writers := min(PopulateWriters, 1+source.Len()/PopulateAlone)
	errs := make([]error, writers)
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for i := writer; i < source.Len() && errs[writer] == nil; i += writers {
				errs[writer] = r.ensure(ctx, client, source, i)
			}
		})
	}
	all.Wait()
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i] // the others have the same
}

// ensure tries until an object is there.
func (r *Runner) ensure(ctx context.Context, client *observe.Client, source *workload.Source, index int) error {
	for !source.Ensure(ctx, client, index) {
		if err := r.wait(ctx, observe.RetryInterval); err != nil {
			return err
		}
	}
	return nil
}

// served is the workload of a step to write: the first one whose resource the first
// member serves and does not store in the newest version yet, which a migration has
// something to do with after an upgrade; else the first one that it serves. What was
// defined a moment ago may not be there yet, so the question is asked for a while.
func (r *Runner) served(ctx context.Context, step *Populate) (*workload.Workload, error) {
	member := r.members()[0]
	client, err := r.client(member)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ctx, cancel := r.within(ctx, DefineTimeout, history.AwaitedState, member, "%s served none of %v", member, step.Workloads)
	defer cancel()
	for {
		var first *workload.Workload
		for _, name := range step.Workloads {
			w := r.Scenario.Populations[name]
			serves, known := workload.NewSource(w, r.objectPrefix(), member, populationRole, r.recorders.tagger, r.Clock).Serves(ctx, client)
			switch {
			case !serves || !known:
			case !storedNewest(ctx, client, w):
				return w, nil
			case first == nil:
				first = w
			}
		}
		if first != nil {
			return first, nil
		}
		if err := r.wait(ctx, observe.RetryInterval); err != nil {
			return nil, err
		}
	}
}

// storedNewest is whether a member announces to store a workload's resource in the newest
// version that the workload knows. One that announces nothing does not.
func storedNewest(ctx context.Context, client *observe.Client, w *workload.Workload) bool {
	if len(w.Spec.Versions) < 2 {
		return false
	}
	newest := slices.MaxFunc(slices.Collect(maps.Keys(w.Spec.Versions)), version.CompareKubeAwareVersionStrings)
	group := cmp.Or(w.Spec.Group, "core")
	var sv apiserverinternalv1alpha1.StorageVersion
	path := observe.GroupVersionPath(storageVersionGroup, storageVersionVersion) + "/" + storageVersionResource + "/" + group + "." + w.Spec.Resource
	if read(ctx, client, path, &sv) != nil {
		return false
	}
	encoding := schema.GroupVersion{Group: w.Spec.Group, Version: newest}.String()
	return slices.ContainsFunc(sv.Status.StorageVersions, func(entry apiserverinternalv1alpha1.ServerStorageVersion) bool {
		return entry.EncodingVersion == encoding
	})
}

func (r *Runner) populated(name string) (*population, error) {
	if p := r.populations[name]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("nothing was populated under the name %s", name)
}

// mutate begins to write to a population, or stops writing to it.
func (r *Runner) mutate(ctx context.Context, step *Mutate) error {
	p, err := r.populated(step.Population)
	if err != nil {
		return err
	}
	p.stop()
	p.done.Wait()
	p.stop = func() {}
	if step.Rate == 0 {
		return nil
	}
	// It goes on after the step; what was sent is waited for.
	whole := context.WithoutCancel(ctx)
	running, stop := context.WithCancel(whole)
	p.stop = stop
	for member, source := range p.sources {
		client, err := r.client(member)
		if err != nil {
			return err
		}
		p.done.Go(func() {
			defer client.Close()
			ticker := r.Clock.NewTicker(workload.Interval(step.Rate))
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C():
					source.Write(whole, client)
				case <-running.Done():
					return
				}
			}
		})
	}
	return nil
}

// stopMutating stops the writes of all mutate steps.
func (r *Runner) stopMutating() {
	for _, p := range r.populations {
		p.stop()
		p.done.Wait()
	}
}
