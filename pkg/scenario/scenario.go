package scenario

import (
	"go.yaml.in/yaml/v3"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

// --- Scenario - Public Types ---

// APIVersion and Kind of a scenario file.
const (
	APIVersion = "evenkeel.dev/v1alpha1"
	Kind       = "Scenario"
)

// Scenario is an ordered list of steps, and which requirements they give
// enough to see for.
type Scenario struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   Metadata `yaml:"metadata"`
	// Description says in a sentence or two what is played and why.
	Description string `yaml:"description"`
	// Judges lists the IDs of the requirements that can pass in this scenario. Any other
	// requirement that the history shows broken fails too.
	Judges []string `yaml:"judges"`
	// Traffic is written to every member all the time.
	Traffic Traffic `yaml:"traffic,omitempty"`
	// Discovery says what of discovery is looked at.
	Discovery Discovery `yaml:"discovery,omitempty"`
	// LeaderElection says how leaders are elected.
	LeaderElection LeaderElection `yaml:"leaderElection,omitempty"`
	// Migrations says what of storage version migrations is looked at.
	Migrations Migrations `yaml:"migrations,omitempty"`
	// Start says how the control plane begins.
	Start Start `yaml:"start,omitempty"`
	// Definitions are faults that the steps name, by that name; a name that is not there is
	// the one of a file. A scenario with definitions is whole by itself.
	Definitions map[string]yaml.Node `yaml:"faults,omitempty"`
	// Steps are played in order.
	Steps []Step `yaml:"steps"`

	// File that the scenario was read from.
	File string `yaml:"-"`
	// Faults are the fault files that the steps name, by that name.
	Faults map[string]*fault.Fault `yaml:"-"`
	// Workloads are the files that the traffic names.
	Workloads []*workload.Workload `yaml:"-"`
	// Populations are the workload files that the populate steps name, by that name.
	Populations map[string]*workload.Workload `yaml:"-"`
	// CRD is the definition of the probes' custom resource; nil if the fixtures
	// have none, which leaves that class of requests out.
	CRD []byte `yaml:"-"`
}

// Metadata names a scenario.
type Metadata struct {
	Name string `yaml:"name"`
}

// Traffic is what is written while the steps are played.
type Traffic struct {
	// Off leaves the traffic out; booting servers are still written to.
	Off bool `yaml:"off,omitempty"`
	// Workloads names files in the fixtures' folder of workloads.
	Workloads []string `yaml:"workloads"`
	// Share is the part of their rates at which the workloads are written and read,
	// above 0 and up to 1; left out, it is all of it. A long scenario needs less, and
	// leaves the control plane more for what it is about.
	Share *float64 `yaml:"share,omitempty"`
}

// Discovery is what a run looks at and has at hand to judge discovery.
type Discovery struct {
	// Record has the discovery documents of every member recorded all the time.
	Record bool `yaml:"record,omitempty"`
	// Peers has API servers tell of what only the others host, and hand requests for
	// that on to them, as the topology's settings.peerDiscovery has it.
	Peers bool `yaml:"peers,omitempty"`
	// Backends are names of aggregated servers, which steps can define and have
	// misbehave. The group of each is its name below aggregated.evenkeel.dev.
	Backends []string `yaml:"backends,omitempty"`
}

// Migrations is what a run looks at of storage version migrations, beside what etcd
// has.
type Migrations struct {
	// Watch has every member asked which migrations there are: by a watch all the
	// time, and by a list in each version at the end of each hold.
	Watch bool `yaml:"watch,omitempty"`
}

// LeaderElection is how the leaders are elected.
type LeaderElection struct {
	// Coordinated has a coordinator elect them, as the topology's
	// settings.coordinatedLeaderElection has it.
	Coordinated bool `yaml:"coordinated,omitempty"`
	// ExtraElections is how many more components a controller manager is an instance of, as
	// the topology's settings.extraElections has it; 0 leaves that to the topology.
	ExtraElections int `yaml:"extraElections,omitempty"`
	// ReleaseOnExit is on where a leading controller manager that is asked to end is to release
	// its Lease, and off where it is to let the Lease expire, as the topology's
	// settings.leaderElectReleaseOnExit has it (KEP-5366); empty leaves that to the topology.
	ReleaseOnExit cluster.Switch `yaml:"releaseOnExit,omitempty"`
	// LeaderActivityProbe has leaders that do not tell by themselves what they do given something
	// to do, by which it is seen who acts: see workload.LeaderActivityProbe.
	LeaderActivityProbe bool `yaml:"leaderActivityProbe,omitempty"`
}

// Start is how the control plane begins.
type Start struct {
	// Release of all members; empty means those of the topology. The --release of a run goes
	// before a relative one, such as @oldest.
	Release string `yaml:"release,omitempty"`
	// MigrationRate is how many objects a second storage version migrations may
	// write, in the place of the topology's limit; where that has none, nothing.
	MigrationRate float64 `yaml:"migrationRate,omitempty"`
	// AutomaticMigration has the control plane migrate without a request, as the topology's
	// settings.automaticMigration has it.
	AutomaticMigration bool `yaml:"automaticMigration,omitempty"`
	// AggregatedServers has each member also run an aggregated API server, as the topology's
	// settings.aggregatedServers has it.
	AggregatedServers bool `yaml:"aggregatedServers,omitempty"`
}
