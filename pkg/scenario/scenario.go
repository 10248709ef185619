package scenario

import (
	"time"

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
	// Judges lists the IDs of the requirements that this scenario can judge.
	Judges []string `yaml:"judges"`
	// Traffic is written to every member all the time.
	Traffic Traffic `yaml:"traffic,omitempty"`
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
}

// Start is how the control plane begins.
type Start struct {
	// Release of all members; empty means those of the topology.
	Release string `yaml:"release,omitempty"`
}

// Step is one step; exactly one of its fields is set.
type Step struct {
	Upgrade    *Replace    `yaml:"upgrade,omitempty"`
	Rollback   *Replace    `yaml:"rollback,omitempty"`
	Restart    *Restart    `yaml:"restart,omitempty"`
	Crash      *Strike     `yaml:"crash,omitempty"`
	Pause      *Strike     `yaml:"pause,omitempty"`
	Partition  *Strike     `yaml:"partition,omitempty"`
	Inject     *Strike     `yaml:"inject,omitempty"`
	Heal       *Strike     `yaml:"heal,omitempty"`
	PowerCycle *PowerCycle `yaml:"powerCycle,omitempty"`
	Stop       *Target     `yaml:"stop,omitempty"`
	Boot       *Target     `yaml:"boot,omitempty"`
	Hold       *Hold       `yaml:"hold,omitempty"`
	Tamper     *Tamper     `yaml:"tamper,omitempty"`
}

// Replace stops all components of a member and starts them at another release.
type Replace struct {
	Member string `yaml:"member"`
	// To is a release, or one relative to the member's: @next, @previous,
	// @start, @oldest, @newest.
	To string `yaml:"to"`
	// With names faults that are there from before the stop until the member is
	// ready again.
	With []string `yaml:"with,omitempty"`
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
	// With is as for Replace.
	With []string `yaml:"with,omitempty"`
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
}

// Tamper changes something behind the control plane's back, as an administrator
// through one member's API server.
type Tamper struct {
	Member string `yaml:"member"`
	// Delete names StorageVersions to delete, as <group or core>.<resource>.
	Delete []string `yaml:"delete"`
}
