package scenario

import (
	"time"

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
	// LeaderActivityProbe has leaders that do not tell by themselves what they do given something
	// to do, by which it is seen who acts: see workload.LeaderActivityProbe.
	LeaderActivityProbe bool `yaml:"leaderActivityProbe,omitempty"`
}

// Start is how the control plane begins.
type Start struct {
	// Release of all members; empty means those of the topology.
	Release string `yaml:"release,omitempty"`
	// MigrationRate is how many objects a second storage version migrations may
	// write, in the place of the topology's limit; where that has none, nothing.
	MigrationRate float64 `yaml:"migrationRate,omitempty"`
}

// Step is one step; exactly one of its fields is set.
type Step struct {
	Upgrade       *Replace       `yaml:"upgrade,omitempty"`
	Rollback      *Replace       `yaml:"rollback,omitempty"`
	Restart       *Restart       `yaml:"restart,omitempty"`
	Crash         *Strike        `yaml:"crash,omitempty"`
	Pause         *Strike        `yaml:"pause,omitempty"`
	Partition     *Strike        `yaml:"partition,omitempty"`
	Inject        *Strike        `yaml:"inject,omitempty"`
	Heal          *Strike        `yaml:"heal,omitempty"`
	PowerCycle    *PowerCycle    `yaml:"powerCycle,omitempty"`
	ConflictStorm *ConflictStorm `yaml:"conflictStorm,omitempty"`
	// JoinWithoutReporting needs a provider that can tell requests to etcd by their keys.
	JoinWithoutReporting *JoinWithoutReporting `yaml:"joinWithoutReporting,omitempty"`
	Stop                 *Target               `yaml:"stop,omitempty"`
	Boot                 *Target               `yaml:"boot,omitempty"`
	Hold                 *Hold                 `yaml:"hold,omitempty"`
	Tamper               *Tamper               `yaml:"tamper,omitempty"`
	SimulatedServer      *SimulatedServer      `yaml:"simulatedServer,omitempty"`
	WaitForHits          *WaitForHits          `yaml:"waitForHits,omitempty"`
	RegisterAPI          *RegisterAPI          `yaml:"registerAPI,omitempty"`
	UnregisterAPI        *UnregisterAPI        `yaml:"unregisterAPI,omitempty"`
	Churn                *Churn                `yaml:"churn,omitempty"`
	SetBackendBehavior   *SetBackendBehavior   `yaml:"setBackendBehavior,omitempty"`
	// ThirdPartyAPIService stands for what a user of the cluster does.
	ThirdPartyAPIService *ThirdPartyAPIService `yaml:"thirdPartyAPIService,omitempty"`

	Populate         *Populate         `yaml:"populate,omitempty"`
	Mutate           *Mutate           `yaml:"mutate,omitempty"`
	Migrate          *Migrate          `yaml:"migrate,omitempty"`
	AwaitMigrations  *AwaitMigrations  `yaml:"awaitMigrations,omitempty"`
	DeleteMigration  *DeleteMigration  `yaml:"deleteMigration,omitempty"`
	DeleteNamespace  *DeleteNamespace  `yaml:"deleteNamespace,omitempty"`
	SimulateElection *SimulateElection `yaml:"simulateElection,omitempty"`
	DisruptLease     *DisruptLease     `yaml:"disruptLease,omitempty"`
	LeaseFields      *LeaseFields      `yaml:"leaseFields,omitempty"`
	RandomFaults     *RandomFaults     `yaml:"randomFaults,omitempty"`
}

// Replace stops all components of a member and starts them at another release.
type Replace struct {
	Member string `yaml:"member"`
	// To is a release, or one relative to the member's: @next, @previous, @oldest,
	// @newest, @start, which it began with, and @start+1, the one after that.
	To string `yaml:"to"`
	// WithFaults names faults that are there from before the stop until the member is
	// ready again.
	WithFaults []string `yaml:"withFaults,omitempty"`
	// DisabledFeatures are features that the member's components are without from then on, such as
	// storageVersions; empty means that they have all of them again.
	DisabledFeatures []cluster.Feature `yaml:"disabledFeatures,omitempty"`
}

// Restart stops members and starts them again.
type Restart struct {
	// Members are selectors.
	Members []string `yaml:"members"`
	// Together stops all of them before any is started, and starts them at
	// once; else they are taken one after the other.
	Together bool `yaml:"together,omitempty"`
	// Release to start them at; empty means that each keeps its own.
	Release string `yaml:"release,omitempty"`
	// WithFaults and DisabledFeatures are as for Replace.
	WithFaults       []string          `yaml:"withFaults,omitempty"`
	DisabledFeatures []cluster.Feature `yaml:"disabledFeatures,omitempty"`
}

// Strike injects a fault, or heals it. A crash, pause or partition does both, and
// is over when what it hit is ready again.
type Strike struct {
	// Fault names a file in the fixtures' folder of faults.
	Fault string `yaml:"fault"`
	// Member stands in for @member in the file.
	Member string `yaml:"member,omitempty"`
	// DownFor is how long what was crashed stays down.
	DownFor time.Duration `yaml:"downFor,omitempty"`
}

// PowerCycle takes the power of members away without warning, and gives it back.
type PowerCycle struct {
	// Member is a selector; several members are off at the same time.
	Member string `yaml:"member"`
	// OffFor is how long they stay off.
	OffFor time.Duration `yaml:"offFor"`
}

// ConflictStorm restarts the API servers of members one after the other, each while
// StorageVersions that it has to write to are edited over and over through another
// member. Before, its entries are taken out of these.
type ConflictStorm struct {
	// Members are selectors.
	Members []string `yaml:"members"`
	// Objects is how many StorageVersions are edited.
	Objects int `yaml:"objects"`
	// Interval is the mean pause between two edits of one; the pauses are random.
	Interval time.Duration `yaml:"interval"`
	// WithFaults names faults that are there from before the start until the member is
	// ready. A slow link to etcd makes it likelier that an edit falls between a
	// server's read and its write.
	WithFaults []string `yaml:"withFaults,omitempty"`
}

// JoinWithoutReporting has a member's API server leave the participants and join them
// anew, and for a while be unable to report.
type JoinWithoutReporting struct {
	Member string `yaml:"member"`
	// Fault names the file of a fault that holds its reports.
	Fault string `yaml:"fault"`
	// For is how long it is silent, from when the first of its reports was held.
	For time.Duration `yaml:"for"`
}

// Target is a component, or with none named all of a member's.
type Target struct {
	Member    string `yaml:"member"`
	Component string `yaml:"component,omitempty"`
}

// Hold lets time pass with nothing changed on purpose, once the control plane
// has settled.
type Hold struct {
	Name string        `yaml:"name"`
	For  time.Duration `yaml:"for"`
	// LeaderStableFor has it begin only when the same controller manager has led for so long, and
	// nobody is to take over from it: a fault that is to meet the leader comes to
	// nothing where leaders have just been chosen and change once more.
	LeaderStableFor time.Duration `yaml:"leaderStableFor,omitempty"`
}

// Tamper changes something behind the control plane's back, as an administrator
// through one member's API server.
type Tamper struct {
	Member string `yaml:"member"`
	// DeleteStorageVersions names StorageVersions to delete, as <group or core>.<resource>.
	DeleteStorageVersions []string `yaml:"deleteStorageVersions,omitempty"`
	// DeleteIdentityLeases selects the members whose identity Leases are deleted, as one
	// does with a server that will not come back.
	DeleteIdentityLeases []string `yaml:"deleteIdentityLeases,omitempty"`
	// AddUnknownServer names StorageVersions to put the entry of a server into that does not
	// exist; one that is not there is made.
	AddUnknownServer []string `yaml:"addUnknownServer,omitempty"`
}

// SimulatedServer has a server of the harness's own take part in publishing storage
// versions, as API servers do: it joins with an identity Lease, and then puts its
// entries in. Once it has joined it lives to the end of the run.
type SimulatedServer struct {
	// Member is through whose API server it does so.
	Member string `yaml:"member"`
	// Name tells guests apart.
	Name string `yaml:"name"`
	// StorageVersions names StorageVersions to put its entry into; one that is not there
	// is made.
	StorageVersions []string `yaml:"storageVersions,omitempty"`
}

// WaitForHits waits until a fault that hits requests has met some. It goes on after a
// while also if it has not: then the fault has no witness, and the run shows
// nothing.
type WaitForHits struct {
	// Fault names the file that an inject step has named.
	Fault string `yaml:"fault"`
	// Requests is how many must have come, at least one; Completed is how many of them
	// must have been answered.
	Requests  int `yaml:"requests,omitempty"`
	Completed int `yaml:"completed,omitempty"`
}

// RegisterAPI has a custom resource hosted, or an aggregated server; or otherwise
// than before.
type RegisterAPI struct {
	// Member is through whose API server.
	Member string `yaml:"member"`
	// CRD is the plural name of a custom resource, and Group and Versions those in
	// which it is to be served. Versions may be v1, v1beta1 and v1alpha1.
	CRD      string   `yaml:"crd,omitempty"`
	Group    string   `yaml:"group,omitempty"`
	Versions []string `yaml:"versions,omitempty"`
	// Storage is the version that a custom resource is stored in; empty means v1.
	Storage string `yaml:"storage,omitempty"`
	// Backend is, in the place of all that, the aggregated server whose
	// group-version is to be handed on to it.
	Backend string `yaml:"backend,omitempty"`
}

// UnregisterAPI takes back what a RegisterAPI has made.
type UnregisterAPI struct {
	// Member is through whose API server.
	Member  string `yaml:"member"`
	CRD     string `yaml:"crd,omitempty"`
	Group   string `yaml:"group,omitempty"`
	Backend string `yaml:"backend,omitempty"`
}

// Churn defines, changes and takes back custom resources of a group of its own
// in quick succession, and leaves none behind.
type Churn struct {
	// Members are selectors; each change goes through one of them.
	Members []string `yaml:"members"`
	// Rounds is how many changes there are, those that take all back not counted; 0 where
	// For says how long they go on instead.
	Rounds int `yaml:"rounds,omitempty"`
	// For is for how long there are changes, those that take all back not counted.
	For time.Duration `yaml:"for,omitempty"`
	// Resources is how many custom resources come and go; four if it is 0. More of them
	// are there at a time, and the longer each of them stays as it is.
	Resources int `yaml:"resources,omitempty"`
	// Keep leaves what is there at the end, to the next churn or for good; without it all that
	// churns have made is taken back.
	Keep bool `yaml:"keep,omitempty"`
	// Backend is an aggregated server that comes and goes too; may be empty.
	Backend string `yaml:"backend,omitempty"`
}

// SetBackendBehavior has an aggregated server do something else than before.
type SetBackendBehavior struct {
	Name string `yaml:"name"`
	// Behavior is what it does wrong; "answer" is that it does as it should again.
	Behavior string `yaml:"behavior"`
	// For is how long it is left so before the next step.
	For time.Duration `yaml:"for,omitempty"`
}

// ThirdPartyAPIService makes an APIService that the judge must take for one that a user of
// the cluster has made, or deletes it. What the steps have left is deleted when the run
// ends.
type ThirdPartyAPIService struct {
	// Member is through whose API server it is made.
	Member string `yaml:"member"`
	// Group that the APIService hands on, in the version v1. It must not be one of
	// Evenkeel's own.
	Group string `yaml:"group"`
	// Server is "flaps" for an aggregated server that answers 404, answers 500 and is killed
	// once in each Period, and answers as it should in between; or "missing" for an
	// APIService that names a Service which does not exist. API servers look at whether a
	// server is available every 30 seconds: a Period that 30 seconds are no multiple of has
	// them meet all that it does.
	Server string        `yaml:"server,omitempty"`
	Period time.Duration `yaml:"period,omitempty"`
	// Remove deletes the APIService of the group and stops its server.
	Remove bool `yaml:"remove,omitempty"`
}

// Populate writes a number of objects, through the members in turn, which stay
// until a Mutate changes them.
type Populate struct {
	// Name is what later steps call them.
	Name string `yaml:"name"`
	// Workloads names files in the fixtures' folder of workloads. The first one is
	// written whose resource the control plane serves and does not store in its newest
	// version yet; where there is none, the first one that it serves.
	Workloads []string `yaml:"workloads"`
	// Count is how many objects there are to be, or MigrationDuration for how long a migration of them
	// is to go on, at the pace of the control plane.
	Count             int           `yaml:"count,omitempty"`
	MigrationDuration time.Duration `yaml:"migrationDuration,omitempty"`
	// Namespace is where they are, and is made for them; where it is left out, that
	// is the one of the workload, which is there.
	Namespace string `yaml:"namespace,omitempty"`
	// Timeout is how long the step may take where that is longer than usual.
	Timeout time.Duration `yaml:"timeout,omitempty"`
}

// Mutate has users change, delete and create the objects of a Populate through
// every member from now on.
type Mutate struct {
	Population string `yaml:"population"`
	// Rate is how many writes a second each member gets, at most workload.HighestRate; 0
	// ends it.
	Rate float64 `yaml:"rate"`
}

// Migrate creates a StorageVersionMigration, and tries what must be refused of it.
type Migrate struct {
	// Name is what later steps call it.
	Name string `yaml:"name"`
	// Member is through whose API server.
	Member string `yaml:"member"`
	// Population is a Populate whose resource is migrated; or else Group and
	// Resource are that.
	Population string `yaml:"population,omitempty"`
	Group      string `yaml:"group,omitempty"`
	Resource   string `yaml:"resource,omitempty"`
	// Wait is whether the step lasts until the migration has ended.
	Wait bool `yaml:"wait,omitempty"`
	// Until has it last until that share of the objects is migrated, such as 50%.
	Until string `yaml:"until,omitempty"`
}

// AwaitMigrations waits until migrations have ended, one way or the other.
type AwaitMigrations struct {
	Migrations []string `yaml:"migrations"`
	// Until has it wait only until that share of the objects is migrated, such as
	// 50%, of those that were to be when the migration was first waited for.
	Until string `yaml:"until,omitempty"`
	// Timeout is how long the step may take where that is longer than usual.
	Timeout time.Duration `yaml:"timeout,omitempty"`
}

// DeleteNamespace deletes the namespace that was made for a Populate, with all that is in it, and
// waits until it has gone.
type DeleteNamespace struct {
	// Member is through whose API server.
	Member     string `yaml:"member"`
	Population string `yaml:"population"`
}

// DeleteMigration deletes a migration.
type DeleteMigration struct {
	// Member is through whose API server.
	Member    string `yaml:"member"`
	Migration string `yaml:"migration"`
}
