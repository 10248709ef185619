package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/release"
)

// --- Topology - Public Types ---

// APIVersion and TopologyKind begin every topology file.
const (
	APIVersion   = "evenkeel.dev/v1alpha1"
	TopologyKind = "Topology"
)

// The bounds of a topology's size. Beyond seven members etcd gains no
// tolerance that users run, and one machine no longer carries the cluster.
const (
	MinMembers = 1
	MaxMembers = 7
)

// Topology is a file in clusters/: which control plane to bring up.
type Topology struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   Metadata `yaml:"metadata"`
	Spec       Spec     `yaml:"spec"`

	// File that it was read from, for messages; empty if it was not a file.
	File string `yaml:"-"`
}

// Metadata names a topology.
type Metadata struct {
	// Name is a DNS label; clusters are called after it.
	Name string `yaml:"name"`
}

// Spec is the content of a topology.
type Spec struct {
	// Provider says how members run: local, kind or external.
	Provider string `yaml:"provider"`
	// Distribution says what runs: reference or kubernetes, or with the provider
	// external whatever its vendor calls it. Empty means reference, and kubernetes
	// with that provider.
	Distribution string `yaml:"distribution,omitempty"`
	// Release that members run unless they name their own.
	Release string `yaml:"release,omitempty"`
	// Emulate is the version whose behavior members have unless they name their own
	// (--emulated-version), such as 1.36; empty means that of their release.
	Emulate string `yaml:"emulate,omitempty"`
	// Members of the control plane, in order.
	Members []MemberSpec `yaml:"members"`
	// Binaries are folders with binaries of one's own, by the release that they
	// stand for; what is not named is found as the distribution does it. A path
	// that is not absolute begins at the topology's file.
	Binaries map[string]string `yaml:"binaries,omitempty"`
	// ReplaceWith says how a member gets another release, where the provider has
	// more than one way: ReplaceWithStaticPods or ReplaceWithKubeadm. Empty means
	// the provider's usual one.
	ReplaceWith string `yaml:"replaceWith,omitempty"`
	// Settings of the components; empty ones keep the component's default.
	Settings Settings `yaml:"settings,omitempty"`
	// Implementation is who answers for the control plane; reports that are submitted
	// should have it.
	Implementation *history.Implementation `yaml:"implementation,omitempty"`
	// External belongs to the provider of that name.
	External *External `yaml:"external,omitempty"`
}

// The ways in which the kind provider replaces a release of Kubernetes.
const (
	// ReplaceWithStaticPods stops all of a member's components and starts them
	// with the images and flags of the other release.
	ReplaceWithStaticPods = "static-pods"
	// ReplaceWithKubeadm has the release's kubeadm upgrade a member, component by
	// component. kubeadm has no way back, for which static Pods are replaced.
	ReplaceWithKubeadm = "kubeadm"
)

// MemberSpec is one member of a topology.
type MemberSpec struct {
	// Name is a DNS label, unique in the topology.
	Name string `yaml:"name"`
	// Release of this member; empty means the topology's, or with the provider external
	// the one that it runs.
	Release string `yaml:"release,omitempty"`
	// Emulate is the version that this member's components emulate; empty means the
	// topology's.
	Emulate string `yaml:"emulate,omitempty"`
	// External says how the member is reached, with the provider of that name.
	External *ExternalMember `yaml:"external,omitempty"`
}

// Settings tune the components, mostly to make in seconds what takes an hour
// in production.
type Settings struct {
	// IdentityLeaseDuration is how long an API server counts as alive after it
	// last renewed its identity Lease.
	IdentityLeaseDuration Duration `yaml:"identityLeaseDuration,omitempty"`
	// IdentityLeaseRenewInterval is how often it renews.
	IdentityLeaseRenewInterval Duration `yaml:"identityLeaseRenewInterval,omitempty"`
	// LeaderElectLeaseDuration is how long a leader counts as alive after it
	// last renewed.
	LeaderElectLeaseDuration Duration `yaml:"leaderElectLeaseDuration,omitempty"`
	// LeaderElectRenewDeadline is when a leader that cannot renew gives up.
	LeaderElectRenewDeadline Duration `yaml:"leaderElectRenewDeadline,omitempty"`
	// LeaderElectRetryPeriod is the pause between attempts.
	LeaderElectRetryPeriod Duration `yaml:"leaderElectRetryPeriod,omitempty"`
	// LeaderElectReleaseOnExit is whether a leading controller manager that is asked to end
	// releases its Lease, on or off (KEP-5366), where the release can; else the Lease expires.
	// Empty keeps the component's default, which is off in Kubernetes and on in the reference.
	LeaderElectReleaseOnExit Switch `yaml:"leaderElectReleaseOnExit,omitempty"`
	// CoordinatedLeaderElection is whether a coordinator elects the leaders
	// (KEP-4355). Where the table of releases switches that on, it is on anyway.
	CoordinatedLeaderElection bool `yaml:"coordinatedLeaderElection,omitempty"`
	// ExtraElections is how many more components a controller manager is an instance of
	// where a coordinator elects, each with a Lease of its own, and a distribution has
	// such: extra-election, extra-election-2 and so on. 0 keeps its own number.
	ExtraElections int `yaml:"extraElections,omitempty"`
	// MigrationRate is how many objects a second storage version migrations may
	// write; 0 keeps the distribution's own limit.
	MigrationRate float64 `yaml:"migrationRate,omitempty"`
	// AutomaticMigration has the control plane migrate a resource without a request, as soon
	// as all API servers agree on another storage version, where the distribution can. A
	// scenario with start.automaticMigration switches it on for its run.
	AutomaticMigration bool `yaml:"automaticMigration,omitempty"`
	// MigrationPace is how many objects a second storage version migrations come to,
	// roughly, where no MigrationRate sets that. Scenarios fill resources by it, so that
	// migrating them takes the time that they need; see Pace.
	MigrationPace float64 `yaml:"migrationPace,omitempty"`
	// WorkloadMigrator is whether Kubernetes leaves migrations to a migrator that is
	// installed as a workload: its own one is off, and the controllers on that run
	// workloads. The two would compete for the same objects.
	WorkloadMigrator bool `yaml:"workloadMigrator,omitempty"`
	// PeerDiscovery has each API server also tell of what only the others host, and
	// hand requests for that on to them (KEP-4020), where the release can. A
	// scenario with discovery.peers switches it on for its run.
	PeerDiscovery bool `yaml:"peerDiscovery,omitempty"`
	// AggregatedServers has each member also run an aggregated API server, which stores
	// objects in etcd and publishes its storage versions, where the distribution has one. A
	// scenario with start.aggregatedServers switches it on for its run.
	AggregatedServers bool `yaml:"aggregatedServers,omitempty"`
	// APIServerGates are feature gates of the API servers beside those by which the
	// features under test are on, in the notation of --feature-gates: "A=false,B=true".
	APIServerGates string `yaml:"apiServerGates,omitempty"`
	// WithoutWatchCache has API servers read everything from etcd rather than keep it in
	// memory, for very many objects on one machine.
	WithoutWatchCache bool `yaml:"withoutWatchCache,omitempty"`
	// ShutdownDelayDuration is for how long an API server that was sent SIGTERM still
	// serves, while its /readyz already fails, so that a load balancer leaves it before
	// it stops (--shutdown-delay-duration); 0 keeps the default, which is no delay. A
	// stop waits that much longer for the process to end before it kills it.
	ShutdownDelayDuration Duration `yaml:"shutdownDelayDuration,omitempty"`
	// BasePort gives the cluster fixed ports from this one on; 0 lets the
	// provider choose free ones.
	BasePort int `yaml:"basePort,omitempty"`
}

// Duration is a time.Duration that YAML writes as "40s".
type Duration time.Duration

// UnmarshalYAML reads the notation of time.ParseDuration. It takes the node
// rather than its text because only the node knows the line to complain of.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	parsed, err := time.ParseDuration(node.Value)
	if err != nil {
		return fmt.Errorf("line %d: %q is no duration such as 40s or 1m30s", node.Line, node.Value)
	}
	*d = Duration(parsed)
	return nil
}

// MarshalYAML writes what UnmarshalYAML reads.
func (d Duration) MarshalYAML() (any, error) { return d.String(), nil }

// String is the notation of time.Duration.
func (d Duration) String() string { return time.Duration(d).String() }

// DefaultDistribution is what runs where a topology does not say, and
// ForeignDistribution for an external cluster.
const (
	DefaultDistribution = "reference"
	ForeignDistribution = "kubernetes"
)

// --- Topology - Methods ---

// ReleaseOf is the release that the member begins with, and what it emulates, in the
// notation of release.Played.
func (t *Topology) ReleaseOf(member MemberSpec) string {
	played := release.Parse(cmp.Or(member.Release, t.Spec.Release))
	if emulate := cmp.Or(member.Emulate, t.Spec.Emulate); emulate != "" {
		played.Emulated = emulate
	}
	return played.String()
}

// SetRelease makes all members begin with one release.
func (t *Topology) SetRelease(release string) {
	t.Spec.Release = release
	for i := range t.Spec.Members {
		t.Spec.Members[i].Release, t.Spec.Members[i].Emulate = "", ""
	}
	t.Spec.Emulate = ""
}

// Path is a path that the topology names, as this process can open it.
func (t *Topology) Path(named string) string {
	if filepath.IsAbs(named) {
		return named
	}
	return filepath.Join(filepath.Dir(t.File), named)
}

// Warnings are what is allowed but hardly meant.
func (t *Topology) Warnings() []string {
	if count := len(t.Spec.Members); count%2 == 0 {
		return []string{fmt.Sprintf("%s: %d members tolerate no more failures than %d; an odd number is usual", t.source(), count, count-1)}
	}
	return nil
}

// Validate checks everything that can be told without asking a provider, and
// returns one error that lists all that is wrong.
func (t *Topology) Validate() error {
	var wrong []string
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }

	if !isLabel(t.Metadata.Name) {
		complain("metadata.name %q is no DNS label (lower-case letters, digits and dashes)", t.Metadata.Name)
	}
	if t.Spec.Provider == "" {
		complain("spec.provider is missing")
	}
	if count := len(t.Spec.Members); count < MinMembers || count > MaxMembers {
		complain("spec.members has %d members, it must have %d to %d", count, MinMembers, MaxMembers)
	}
	var names []string
	for i, member := range t.Spec.Members {
		switch {
		case !isLabel(member.Name):
			complain("spec.members[%d].name %q is no DNS label (lower-case letters, digits and dashes)", i, member.Name)
		case slices.Contains(names, member.Name):
			complain("spec.members[%d].name %q is used twice", i, member.Name)
		}
		names = append(names, member.Name)
		if emulate := cmp.Or(member.Emulate, t.Spec.Emulate); emulate != "" && !minors.MatchString(emulate) {
			complain("spec.members[%d] emulates %q, which is no version such as 1.36", i, emulate)
		}
		if release.Binary(t.ReleaseOf(member)) == "" && !t.ExternallyManaged() {
			complain("spec.members[%d] has no release: set one, or spec.release, or external for a member of a cluster that is there already", i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Spec.Binaries)) {
		if name == "" || t.Spec.Binaries[name] == "" {
			complain("spec.binaries has an entry without a release or without a folder")
		}
	}
	if way := t.Spec.ReplaceWith; way != "" && way != ReplaceWithStaticPods && way != ReplaceWithKubeadm {
		complain("spec.replaceWith %q is no way to replace a release; %s and %s are", way, ReplaceWithStaticPods, ReplaceWithKubeadm)
	}
	wrong = append(wrong, t.Spec.Settings.problems(len(t.Spec.Members))...)
	wrong = append(wrong, implementationProblems(t.Spec.Implementation)...)
	wrong = append(wrong, t.externalProblems()...)
	if len(wrong) > 0 {
		return &TopologyError{File: t.File, Problems: wrong}
	}
	return nil
}

// MaxShutdownDelay is the longest ShutdownDelayDuration. A step waits for the stop and
// the start of a member together.
const MaxShutdownDelay = time.Minute

// PortsPerMember is how many consecutive ports of BasePort a member takes: one
// for each endpoint of its components and one for each link.
const PortsPerMember = 9

// ports is how many consecutive ports of BasePort so many members take.
func (s Settings) ports(members int) int {
	ports, balancers := members*PortsPerMember, 0
	if members > 1 {
		balancers++
	}
	if s.AggregatedServers {
		ports, balancers = ports+members, balancers+1
	}
	return ports + balancers
}

// unprivilegedPort is the first port that needs no privilege.
const unprivilegedPort, lastPort = 1024, 65535

// minors is the notation of --emulated-version.
var minors = regexp.MustCompile(`^\d+\.\d+$`)

// gates is the notation of --feature-gates.
var gates = regexp.MustCompile(`^\w+=(true|false)(,\w+=(true|false))*$`)

func (s Settings) problems(members int) []string {
	var wrong []string
	for _, setting := range []struct {
		name  string
		value Duration
	}{
		{"identityLeaseDuration", s.IdentityLeaseDuration},
		{"identityLeaseRenewInterval", s.IdentityLeaseRenewInterval},
		{"leaderElectLeaseDuration", s.LeaderElectLeaseDuration},
		{"leaderElectRenewDeadline", s.LeaderElectRenewDeadline},
		{"leaderElectRetryPeriod", s.LeaderElectRetryPeriod},
		{"shutdownDelayDuration", s.ShutdownDelayDuration},
	} {
		if setting.value < 0 {
			wrong = append(wrong, fmt.Sprintf("spec.settings.%s is negative", setting.name))
		}
	}
	if delay := time.Duration(s.ShutdownDelayDuration); delay > MaxShutdownDelay {
		wrong = append(wrong, fmt.Sprintf("spec.settings.shutdownDelayDuration %s is longer than %s: a step that stops a member would take it for broken", delay, MaxShutdownDelay))
	}
	if !s.LeaderElectReleaseOnExit.Valid() {
		wrong = append(wrong, fmt.Sprintf("spec.settings.leaderElectReleaseOnExit is %q: write %s or %s, or leave it out", s.LeaderElectReleaseOnExit, SwitchOn, SwitchOff))
	}
	if s.ExtraElections < 0 {
		wrong = append(wrong, "spec.settings.extraElections is negative")
	}
	if s.MigrationRate < 0 {
		wrong = append(wrong, "spec.settings.migrationRate is negative")
	}
	if s.MigrationPace < 0 {
		wrong = append(wrong, "spec.settings.migrationPace is negative")
	}
	if s.APIServerGates != "" && !gates.MatchString(s.APIServerGates) {
		wrong = append(wrong, fmt.Sprintf("spec.settings.apiServerGates %q must be feature gates such as A=false,B=true", s.APIServerGates))
	}
	shorter := func(shortName string, short Duration, longName string, long Duration) {
		if short > 0 && long > 0 && short >= long {
			wrong = append(wrong, fmt.Sprintf("spec.settings.%s (%s) must be shorter than %s (%s)", shortName, short, longName, long))
		}
	}
	shorter("identityLeaseRenewInterval", s.IdentityLeaseRenewInterval, "identityLeaseDuration", s.IdentityLeaseDuration)
	shorter("leaderElectRenewDeadline", s.LeaderElectRenewDeadline, "leaderElectLeaseDuration", s.LeaderElectLeaseDuration)
	shorter("leaderElectRetryPeriod", s.LeaderElectRetryPeriod, "leaderElectRenewDeadline", s.LeaderElectRenewDeadline)
	if s.BasePort != 0 {
		last := s.BasePort + s.ports(members) - 1
		if s.BasePort < unprivilegedPort || last > lastPort {
			wrong = append(wrong, fmt.Sprintf("spec.settings.basePort %d: the ports %d to %d must lie between %d and %d",
				s.BasePort, s.BasePort, last, unprivilegedPort, lastPort))
		}
	}
	return wrong
}

// Named are the settings that are made, by their names in a topology, in its notation;
// nil if there are none.
func (s Settings) Named() (map[string]string, error) {
	raw, err := yaml.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the settings of the topology: %w", err)
	}
	var made map[string]any
	if err := yaml.Unmarshal(raw, &made); err != nil {
		return nil, fmt.Errorf("read the settings of the topology: %w", err)
	}
	var named map[string]string
	for name, value := range made {
		if named == nil {
			named = map[string]string{}
		}
		named[name] = fmt.Sprint(value)
	}
	return named, nil
}

// implementationProblems is what is wrong with what a topology says of who answers
// for it. The version may be left to the releases.
func implementationProblems(named *history.Implementation) []string {
	if named == nil {
		return nil
	}
	whole := *named
	if whole.Version == "" {
		whole.Version = "that of the releases"
	}
	var wrong []string
	for _, problem := range whole.Problems() {
		wrong = append(wrong, "spec.implementation."+problem)
	}
	return wrong
}

func (t *Topology) source() string {
	if t.File == "" {
		return "topology"
	}
	return t.File
}

func isLabel(name string) bool { return len(validation.IsDNS1123Label(name)) == 0 }
