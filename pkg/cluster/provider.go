package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/release"
)

// Provider makes clusters of one way of running members.
type Provider interface {
	// Name is what a topology's spec.provider calls it.
	Name() string
	// Releases of a distribution that this provider can run, oldest first; none where
	// it runs nothing itself.
	Releases(ctx context.Context, distribution string) ([]string, error)
	// Defects that can be planted in a distribution; none in real software.
	Defects(ctx context.Context, distribution string) ([]Defect, error)
	// New prepares a cluster of a valid topology without starting anything.
	// The clients' configurations can be asked for at once; a caller that got a
	// Cluster must Stop it, started or not.
	New(ctx context.Context, topology *Topology, options Options) (Cluster, error)
}

// Adopter is a Provider whose clusters are there before a run and stay after it. Its topologies
// say how they are reached, and those of no other provider do; see Topology.ExternallyManaged.
type Adopter interface{ Adopts() }

// Shared is an Adopter whose clusters others may use at the same time.
type Shared interface {
	Adopter
	// Access is how the API servers of a topology's members are reached.
	Access(topology *Topology) ([]*rest.Config, error)
}

// TopologyChecker is a Provider that knows more of what a topology may say than Topology.Validate.
type TopologyChecker interface {
	// TopologyProblems says what is wrong in a valid topology, each as a part of a sentence that
	// names the key.
	TopologyProblems(topology *Topology) []string
}

// Cleaner is a Provider whose clusters are more than processes and files of
// this machine, as containers are.
type Cleaner interface {
	// Clean removes what is left of the cluster of the ID, and says how many
	// things that were. It is no error if there was nothing.
	Clean(ctx context.Context, id string) (int, error)
	// Leftovers are the IDs of the clusters of which something is left and whose
	// owners are dead, whether anything else knows of them or not.
	Leftovers(ctx context.Context) ([]string, error)
}

// Defect is a bug that a distribution can be started with on purpose.
type Defect struct {
	// ID is named after the requirement that it breaks.
	ID          string `json:"id"`
	Requirement string `json:"requirement"`
	// Component that has the bug, or several with commas between them.
	Component   string `json:"component"`
	Description string `json:"description"`
	// Bound is the bound of the requirement that the defect breaks by little, and By how: a
	// time, or a factor. Both are empty where it breaks none.
	Bound string `json:"bound,omitempty"`
	By    string `json:"by,omitempty"`
}

// Hosts are the components that have to be started with the defect.
func (d Defect) Hosts() []Component {
	var hosts []Component
	for _, one := range strings.Split(d.Component, ",") {
		hosts = append(hosts, Component(strings.TrimSpace(one)))
	}
	return hosts
}

// Options are what differs from one run of a topology to the next. The zero
// value is usable.
type Options struct {
	// Name of the cluster; empty means the topology's.
	Name string
	// Owner says in a word for whom the cluster runs, such as "run"; it is
	// shown to a user who lists clusters.
	Owner string
	// BundleDir is the bundle that the run leaves, for a user who lists clusters.
	BundleDir string
	// LogDir receives the components' logs and outlives Stop; empty means a
	// folder in the provider's own state, which a clean-up removes after the
	// owner has ended.
	LogDir string
	// Observer is told of every process; nil means no observer.
	Observer Observer
	// Defects to plant, by ID.
	Defects []string
	// Seed of all randomness that has an effect on the members, which is the
	// jitter of links.
	Seed int64
	// AllowDisruption is whether hooks may be run on an external cluster.
	// The other providers need no leave for what they do to their own.
	AllowDisruption bool
}

// Registry is the set of providers that a program has.
type Registry []Provider

// Lookup finds a provider by its name.
func (r Registry) Lookup(name string) (Provider, error) {
	var known []string
	for _, provider := range r {
		if provider.Name() == name {
			return provider, nil
		}
		known = append(known, provider.Name())
	}
	return nil, &UnknownProviderError{Name: name, Known: known}
}

// New checks the topology against what its provider can run, and prepares a
// cluster. Its errors are those of Check, and the provider's own.
func (r Registry) New(ctx context.Context, topology *Topology, options Options) (Cluster, error) {
	if options.Name != "" && !isLabel(options.Name) {
		return nil, fmt.Errorf("the cluster's name %q is no DNS label (lower-case letters, digits and dashes)", options.Name)
	}
	provider, err := r.Check(ctx, topology, options.Defects)
	if err != nil {
		return nil, err
	}
	made, err := provider.New(ctx, topology, options)
	return made, err
}

// Check validates the topology and asks its provider whether it has the
// releases and the defects. Its error is a *TopologyError, an *UnknownProviderError, an
// *UnknownReleaseError, an *UnknownDefectError, or the provider's.
func (r Registry) Check(ctx context.Context, topology *Topology, defects []string) (Provider, error) {
	if err := topology.Validate(); err != nil {
		return nil, err
	}
	provider, err := r.Lookup(topology.Spec.Provider)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", topology.source(), err)
	}
	if _, adopts := provider.(Adopter); adopts != topology.ExternallyManaged() {
		problem := fmt.Sprintf("the provider %s runs its members itself: leave spec.external and the external of members out", provider.Name())
		if adopts {
			problem = fmt.Sprintf("the provider %s makes no cluster: say under spec.members[].external how each member is reached", provider.Name())
		}
		return nil, &TopologyError{File: topology.File, Problems: []string{problem}}
	}
	if checker, ok := provider.(TopologyChecker); ok {
		if problems := checker.TopologyProblems(topology); len(problems) > 0 {
			return nil, &TopologyError{File: topology.File, Problems: problems}
		}
	}
	releases, err := provider.Releases(ctx, topology.Spec.Distribution)
	if err != nil {
		return nil, err
	}
	members := topology.Spec.Members
	if topology.ExternallyManaged() {
		members = nil // what they run, they say themselves
	}
	for _, member := range members {
		if release := topology.ReleaseOf(member); !HasRelease(releases, release) {
			return nil, fmt.Errorf("%s: %w", topology.source(), &UnknownReleaseError{
				Distribution: topology.Spec.Distribution, Release: release, Member: member.Name, Known: releases,
			})
		}
	}
	if len(defects) == 0 {
		return provider, nil
	}
	return provider, checkDefects(ctx, provider, topology.Spec.Distribution, defects)
}

// HasRelease is whether the binaries of a release are of one of those that are known,
// whatever they emulate. What a release can emulate, it says itself when it is started.
func HasRelease(known []string, name string) bool {
	return slices.Contains(known, release.Binary(name))
}

func checkDefects(ctx context.Context, provider Provider, distribution string, wanted []string) error {
	known, err := provider.Defects(ctx, distribution)
	if err != nil {
		return err
	}
	ids := make([]string, 0, len(known))
	for _, defect := range known {
		ids = append(ids, defect.ID)
	}
	for _, id := range wanted {
		if !slices.Contains(ids, id) {
			return &UnknownDefectError{Distribution: distribution, ID: id, Known: ids}
		}
	}
	return nil
}
