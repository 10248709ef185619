package history

import "time"

// Format names the file format in the header line; a reader refuses any other.
const Format = "evenkeel-history"

// Version is raised whenever the meaning of a field changes, so that a bundle
// is never judged by rules that it was not written for.
const Version = 2

// Header is the first line of a history. It holds what a judge must know
// before the first event: the time base and the members.
type Header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Run identifies the run; every object the harness writes carries it.
	Run string `json:"run"`
	// Seed is what all randomness of the run was derived from.
	Seed int64 `json:"seed"`
	// Started is the wall clock at time 0 of the history.
	Started time.Time `json:"started"`
	// Harness is the version of the evenkeel that recorded.
	Harness string `json:"harness"`
	// HarnessDigest is the SHA-256, in hexadecimal, of the program that recorded.
	HarnessDigest string `json:"harnessDigest,omitempty"`
	Scenario      string `json:"scenario"`
	Provider      string `json:"provider"`
	// Distribution is what runs: reference or kubernetes.
	Distribution string         `json:"distribution"`
	Members      []MemberHeader `json:"members"`
	// Asked lists the requirements that the run was asked to judge; absent, they
	// are all of the Profiles.
	Asked []string `json:"asked,omitempty"`
	// Judges lists those of them that the scenario lists, so that they can pass. Any
	// other requirement that the history shows broken fails too.
	Judges []string `json:"judges,omitempty"`
	// Profiles that the run claims, by name.
	Profiles []string `json:"profiles,omitempty"`
	// Strict is whether the judge is to take documented deviations of the
	// distribution for failures too. It stands here, so that judging again needs
	// nothing else.
	Strict bool `json:"strict,omitempty"`
	// Writes lists the resources that the harness itself writes, tagged.
	Writes []WrittenResource `json:"writes,omitempty"`
	// MigrationRate is how many objects a second migrations were told to write at
	// most; 0 if they were told nothing.
	MigrationRate float64 `json:"migrationRate,omitempty"`
	// Defect is the ID of the defect planted on purpose, if any, or of several with commas between.
	Defect string `json:"defect,omitempty"`
	// Implementation is who answers for the control plane, if the topology says so.
	Implementation *Implementation `json:"implementation,omitempty"`
	// Topology is what the topology sets.
	Topology *Topology `json:"topology,omitempty"`
	// FeatureGates are the feature gates that members are started with at each release, while
	// no feature is switched off at them: by release and program, in the notation of
	// the flag --feature-gates.
	FeatureGates map[string]map[string]string `json:"featureGates,omitempty"`
	// Files are the SHA-256, in hexadecimal, of the files that were put beside the
	// history as it was begun, by their names.
	Files map[string]string `json:"files,omitempty"`
	// Lacks are what judging a requirement may take and this run did not have, because
	// Evenkeel did not make the cluster; none with the other providers.
	Lacks []Lack `json:"lacks,omitempty"`
}

// WrittenResource maps the kind that stored bytes name to its resource.
type WrittenResource struct {
	Group    string `json:"group,omitempty"`
	Resource string `json:"resource"`
	Kind     string `json:"kind"`
}

// MemberHeader is one control-plane member as the run begins.
type MemberHeader struct {
	// Name of the member, unique in the topology.
	Name string `json:"name"`
	// Host is the host name that its components see, with which the holder of a
	// Lease for election begins; empty means the Name.
	Host string `json:"host,omitempty"`
	// ServerID is the identity its API server reports under: the name of its
	// identity Lease and the apiServerID of its StorageVersion entries.
	ServerID string `json:"serverID"`
	// Release at which the member begins.
	Release string `json:"release"`
}

// Kind says which of an Event's payloads is set.
type Kind string

// The kinds of events. Each has one payload in Event, of the same name. Further kinds stand
// beside their payloads: KindRead, KindVisibility, KindEtcdHash, KindCustomResourceAnswer,
// KindStarvation, KindVersionTrial, KindBackendUpdate,
// KindEtcdCompaction.
const (
	KindStep               Kind = "step"
	KindNotReached         Kind = "notReached"
	KindHold               Kind = "hold"
	KindProcess            Kind = "process"
	KindRequest            Kind = "request"
	KindReady              Kind = "ready"
	KindVersion            Kind = "version"
	KindHostedResources    Kind = "hostedResources"
	KindWatch              Kind = "watch"
	KindStored             Kind = "stored"
	KindFault              Kind = "fault"
	KindInterceptedRequest Kind = "interceptedRequest"
	KindEtcdHealth         Kind = "etcdHealth"
	KindLoadBalancer       Kind = "loadBalancer"
	KindDiscoveryDocument  Kind = "discoveryDocument"
	KindThirdPartyObject   Kind = "thirdPartyObject"
	KindRecorderMissed     Kind = "recorderMissed"
	KindRecorderDelayed    Kind = "recorderDelayed"
	KindEnd                Kind = "end"
)

// Event is one line of a history: something that was done, injected or seen.
type Event struct {
	// Seq counts from 1 without gaps, so that a missing line is noticed.
	Seq int64 `json:"seq"`
	// At is when the event was complete, in nanoseconds since Header.Started on
	// the harness's monotonic clock (for a request: the answer was received).
	At int64 `json:"at"`
	// From is when it began (for a request: before the first byte was sent; for a change
	// in etcd: a time at which etcd had not made it; for a process: when it was that its provider
	// tells of late); 0 where that is not known.
	From int64 `json:"from,omitempty"`
	// Given is whether the event tells what was so when its recorder began, on a cluster that
	// was there before the run: it came about at some time before At, which is not known.
	Given bool `json:"given,omitempty"`
	Kind  Kind `json:"kind"`
	// Member is the control-plane member concerned, if it is a single one.
	Member string `json:"member,omitempty"`

	Step *Step `json:"step,omitempty"`
	// NotReached is what a step waited for in vain.
	NotReached      *NotReached      `json:"notReached,omitempty"`
	Hold            *Hold            `json:"hold,omitempty"`
	Process         *Process         `json:"process,omitempty"`
	Request         *Request         `json:"request,omitempty"`
	Ready           *Ready           `json:"ready,omitempty"`
	Version         *Release         `json:"version,omitempty"`
	HostedResources *HostedResources `json:"hostedResources,omitempty"`
	Watch           *Watch           `json:"watch,omitempty"`
	Stored          *Stored          `json:"stored,omitempty"`
	Fault           *Fault           `json:"fault,omitempty"`
	// InterceptedRequest is a request that an HTTP fault intercepted.
	InterceptedRequest *InterceptedRequest `json:"interceptedRequest,omitempty"`
	// EtcdHealth is how all members' etcd were.
	EtcdHealth *EtcdHealth `json:"etcdHealth,omitempty"`
	// LoadBalancer is the answer to one client of the load balancer.
	LoadBalancer *LoadBalancer `json:"loadBalancer,omitempty"`
	// DiscoveryDocument is an answer to a request for discovery.
	DiscoveryDocument *DiscoveryDocument `json:"discoveryDocument,omitempty"`
	// Read is a member's answer to a read, held against etcd.
	Read *Read `json:"read,omitempty"`
	// Visibility is what a member showed of another one's write.
	Visibility *Visibility `json:"visibility,omitempty"`
	// EtcdHash is etcd's hash of what each member's etcd holds.
	EtcdHash *EtcdHash `json:"etcdHash,omitempty"`
	// CustomResourceAnswer is an API server's answer about a custom resource while it started.
	CustomResourceAnswer *CustomResourceAnswer `json:"customResourceAnswer,omitempty"`
	// VersionTrial is a start of an API server's program with versions that it must refuse.
	VersionTrial *VersionTrial `json:"versionTrial,omitempty"`
	// EtcdCompaction is that the harness had etcd forget its history.
	EtcdCompaction *EtcdCompaction `json:"etcdCompaction,omitempty"`
	// BackendUpdate is that an aggregated server of the harness hosts something else.
	BackendUpdate *BackendUpdate `json:"backendUpdate,omitempty"`
	// ThirdPartyObject is an object that neither the control plane nor the harness made.
	ThirdPartyObject *ThirdPartyObject `json:"thirdPartyObject,omitempty"`
	// Starvation is what the machine that the members run on did not give them.
	Starvation      *Starvation      `json:"starvation,omitempty"`
	RecorderMissed  *RecorderMissed  `json:"recorderMissed,omitempty"`
	RecorderDelayed *RecorderDelayed `json:"recorderDelayed,omitempty"`
	End             *End             `json:"end,omitempty"`
}

// LoadBalancer is what a client got that read an object through the load balancer,
// over a connection of its own. Which member answered it cannot know.
type LoadBalancer struct {
	// Code is the HTTP status; 0 when no answer came, and Error says why.
	Code  int    `json:"code,omitempty"`
	Error string `json:"error,omitempty"`
}

// Answered is whether the client was served: it may read an object that every control plane
// has, so a refusal does not serve it.
func (b *LoadBalancer) Answered() bool { return b.Code >= 200 && b.Code < 300 }

// Phase is where in its course a step, hold or fault is.
type Phase string

// Phases of steps and holds (begin, end, failed; skipped of a step for which an
// external cluster gives no means, or that cannot be played because an earlier step did
// not reach its state) and of faults (inject, witness, heal).
const (
	PhaseBegin   Phase = "begin"
	PhaseEnd     Phase = "end"
	PhaseFailed  Phase = "failed"
	PhaseSkipped Phase = "skipped"
	PhaseInject  Phase = "inject"
	PhaseWitness Phase = "witness"
	PhaseHeal    Phase = "heal"
)

// Step is a step of the Scenario that began, ended or failed, or was skipped.
type Step struct {
	// Index counts the steps of the Scenario from 1; 0 is the boot before them.
	Index  int    `json:"index"`
	Action string `json:"action"`
	Phase  Phase  `json:"phase"`
	// Release is the target of an upgrade or rollback.
	Release string `json:"release,omitempty"`
	Message string `json:"message,omitempty"`
}

// Hold is a stretch of time in which nothing is changed on purpose, after the
// control plane was seen to have settled; the states that it visits are judged
// at its end.
type Hold struct {
	Name  string `json:"name"`
	Phase Phase  `json:"phase"`
	// Releases is the release that each member runs.
	Releases map[string]string `json:"releases"`
	// Revision is an etcd revision read as the phase was recorded: everything
	// acknowledged before the event is at or below it.
	Revision int64 `json:"revision"`
}

// Changes of a process.
const (
	ProcessStarted = "started" // the process exists
	ProcessExited  = "exited"  // the process is gone, for whatever reason
	// ProcessStopping: SIGTERM is about to be sent. Until the process has exited it may
	// serve on, as an API server does for its --shutdown-delay-duration.
	ProcessStopping = "stopping"
	ProcessPaused   = "paused"
	ProcessResumed  = "resumed"
)

// Components of a member.
const (
	ComponentEtcd              = "etcd"
	ComponentAPIServer         = "apiserver"
	ComponentControllerManager = "controller-manager"
	ComponentScheduler         = "scheduler"
	ComponentAggregatedServer  = "aggregated-apiserver"
)

// FeatureStorageVersions is the StorageVersion API as a feature that an API server
// can be started without.
const FeatureStorageVersions = "storageVersions"

// FeatureCoordination is coordinated leader election as a feature that API servers and
// controllers can be started without.
const FeatureCoordination = "coordinatedLeaderElection"

// FeatureAggregatedDiscovery is aggregated discovery as a feature that an API server can be
// started without.
const FeatureAggregatedDiscovery = "aggregatedDiscovery"

// Process is a change in the life of one component's process. Each start is a
// new instance; instances of one member and component are counted from 1.
type Process struct {
	Component string `json:"component"`
	Change    string `json:"change"`
	Instance  int    `json:"instance"`
	PID       int    `json:"pid,omitempty"`
	// StartTime is the kernel's start time of the process, in clock ticks since
	// boot: with the PID it names a process for ever.
	StartTime int64  `json:"startTime,omitempty"`
	Release   string `json:"release,omitempty"`
	// DisabledFeatures are the features that the process was started without.
	DisabledFeatures []string `json:"disabledFeatures,omitempty"`
	// Exit says how it ended, in words ("exit status 1", "signal: killed"), or that
	// this was not seen (ExitUnseen).
	Exit string `json:"exit,omitempty"`
	// Expected is whether the harness ended it on purpose.
	Expected bool `json:"expected,omitempty"`
	// Forced is whether the process had not ended within the bound of an orderly stop,
	// so that SIGKILL ended it.
	Forced bool `json:"forced,omitempty"`
	// Log are the last lines of the component's log as a process was gone that the harness
	// had not ended, at most a few kilobytes, with credentials masked; empty where the
	// log could not be read.
	Log []string `json:"log,omitempty"`
	// SelfReported is whether only the API server itself reported this change, as on an
	// external cluster: the change may have happened some time before the event.
	// There is no PID then, and StartTime is in hundredths of a second since 1970, by
	// the server's own clock.
	SelfReported bool `json:"selfReported,omitempty"`
}

// ExitUnseen is the Exit of a process that is gone, whose parent is not the
// harness: only the parent learns how a process ended.
const ExitUnseen = "it is gone; how it ended only the container runtime knows"

// Classes of requests.
const (
	// ClassGuarded is a write to a persisted built-in resource, which the
	// registration barrier must hold back: a create, update, patch, delete or
	// deletecollection, also of a subresource.
	ClassGuarded = "guarded"
	// ClassRead is a get or list of a persisted built-in resource.
	ClassRead = "read"
	// ClassReview is a create of a resource that is not persisted, such as a
	// SubjectAccessReview.
	ClassReview = "review"
	// ClassCustom is a write to a custom resource.
	ClassCustom = "custom"
	// ClassAggregated is a write to an API that an aggregated server hosts.
	ClassAggregated = "aggregated"
	// ClassInvalid is a write of a StorageVersion status that must be refused;
	// Request.Invalid says what is wrong with it. Sent with dryRun=All unless
	// Request.WithoutDryRun says otherwise.
	ClassInvalid = "invalid"
	// ClassMigration is a write of a StorageVersionMigration or its status. One
	// that must be refused says in Request.Invalid what is wrong with it.
	ClassMigration = "migration"
	// ClassElection is a write to a Lease or a LeaseCandidate by which the harness
	// disturbs an election or takes part in one. Request.Election says how.
	ClassElection = "election"
)

// What is wrong with the status that a ClassInvalid request writes.
const (
	// InvalidUndecodable: an entry's encoding version is not decodable by it.
	InvalidUndecodable = "undecodable"
	// InvalidAgreement: the agreed version is set though the entries differ.
	InvalidAgreement = "agreement"
	// InvalidDuplicate: one server has two entries.
	InvalidDuplicate = "duplicate"
)

// Request is a request that the harness sent to one member's API server.
type Request struct {
	Class    string `json:"class"`
	Verb     string `json:"verb"`
	Group    string `json:"group,omitempty"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
	// Name of the object, with its namespace in front where it has one.
	Name string `json:"name,omitempty"`
	// Code is the HTTP status; 0 when no answer came, and Error says why.
	Code    int    `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
	// Barrier is whether the answer is the 503 of the registration barrier
	// rather than any other refusal.
	Barrier bool `json:"barrier,omitempty"`
	// ResourceVersion that the server answered with; for a write that changed
	// something it is the etcd revision that the write made.
	ResourceVersion int64 `json:"rv,omitempty"`
	// Write is the number of a tagged write, see Tag; 0 for all others.
	Write   int64  `json:"write,omitempty"`
	Invalid string `json:"invalid,omitempty"`
	// Defines is what a write of a CustomResourceDefinition or an APIService asks
	// to be hosted.
	Defines *Definition `json:"defines,omitempty"`
	// WithoutDryRun is whether a ClassInvalid request was sent without dryRun=All: an API
	// server may accept what it refuses in a dry run.
	WithoutDryRun bool `json:"withoutDryRun,omitempty"`
	// Migrates is what the migration of a ClassMigration request is about.
	Migrates *Migration `json:"migrates,omitempty"`
	// Election is one of the Election… values, for a ClassElection request.
	Election string `json:"election,omitempty"`
}

// Ready is an answer, or the lack of one, of a member's /readyz.
type Ready struct {
	// Code is the HTTP status; 0 when no answer came.
	Code int `json:"code"`
	// Failing lists the checks that did not pass.
	Failing []string `json:"failing,omitempty"`
	// Revision is an etcd revision read right after an answer of 200 that
	// followed another one: all that the server had published by then is at or
	// below it. 0 where it was not read.
	Revision int64 `json:"revision,omitempty"`
}

// Release is the answer of a member's /version.
type Release struct {
	GitVersion string `json:"gitVersion"`
}

// HostedResources is what a member's API server hosts, as its unaggregated
// discovery documents tell, fetched after it was ready.
type HostedResources struct {
	// Revision is an etcd revision read right after.
	Revision  int64            `json:"revision"`
	Resources []HostedResource `json:"resources"`
}

// HostedResource is one resource, all its versions together.
type HostedResource struct {
	Group    string `json:"group,omitempty"`
	Resource string `json:"resource"`
	Kind     string `json:"kind"`
	// Served versions, as group/version ("v1" for the core group), sorted.
	Served []string `json:"served"`
	// Unlisted are versions that the server does not list among those of the
	// group, and whose own document it answers with the resource in it all the
	// same, without the help of a peer; sorted. Those that any StorageVersion calls
	// served were asked for. Recorders before this release let a peer answer, too.
	Unlisted []string `json:"unlisted,omitempty"`
	// Persisted is whether discovery gives a storage version hash for it, and Hashes are
	// the different ones that it gives, sorted. Recorders before this release told no Hashes.
	Persisted bool     `json:"persisted,omitempty"`
	Hashes    []string `json:"hashes,omitempty"`
	// Custom is whether a CustomResourceDefinition defines it.
	Custom bool `json:"custom,omitempty"`
	// Aggregated is whether an APIService hands it to another server.
	Aggregated bool `json:"aggregated,omitempty"`
}

// Types of watch events beside the API's own ADDED, MODIFIED and DELETED.
const (
	WatchOpened = "OPENED"
	WatchBroken = "BROKEN"
)

// Watch is an event of the recorder's own watch through one API server.
type Watch struct {
	Resource        string `json:"resource"`
	Type            string `json:"type"`
	Name            string `json:"name,omitempty"`
	ResourceVersion int64  `json:"rv,omitempty"`
	// Code is the status with which the list or the watch was refused; 0 if that was
	// not why it broke.
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// StorageVersion is the object as this server showed it to its client.
	StorageVersion *StorageVersion `json:"storageVersion,omitempty"`
}

// Types of changes in etcd.
const (
	StoredPut    = "put"
	StoredDelete = "delete"
)

// Stored is one change of one key, as etcd's own watch tells it. Within one
// history these events are in the order of their revisions.
type Stored struct {
	Type     string `json:"type"`
	Key      string `json:"key"`
	Revision int64  `json:"revision"`
	// Created is the revision that created the key.
	Created int64 `json:"created,omitempty"`
	// APIVersion and Kind that the stored bytes name: the version in which the
	// object was really encoded. Empty for a delete and for bytes that are no
	// API object.
	APIVersion string `json:"apiVersion,omitempty"`
	ObjectKind string `json:"objectKind,omitempty"`
	// Name of the object, with its namespace in front where it has one.
	Name string `json:"name,omitempty"`
	// Deleting is whether the object has a deletionTimestamp: it is deleted, and kept as
	// long as it has finalizers.
	Deleting bool `json:"deleting,omitempty"`
	// Protected is whether the object has the finalizer that a controller of Kubernetes' own
	// adds to it, if that runs, and removes once the object is deleted and not in use.
	Protected bool `json:"protected,omitempty"`
	// Writer and Write are the member and number of the tagged write that made
	// the change; empty where the object has no tag, or still the one of an
	// earlier change: then another client wrote.
	Writer string `json:"writer,omitempty"`
	Write  int64  `json:"write,omitempty"`

	// Metadata is a digest of the object's metadata but for its resourceVersion and
	// managed fields, and Managed has one of the managed fields for each version in
	// which they are noted: what a migration must leave alone. Only objects that the
	// harness has written have them.
	Metadata string            `json:"metadata,omitempty"`
	Managed  map[string]string `json:"managed,omitempty"`
	// Content is a digest of all else that the object holds, but for its version
	// and kind, in the form that the version gives it. Only the same objects have it.
	Content string `json:"content,omitempty"`

	StorageVersion *StorageVersion `json:"storageVersion,omitempty"`
	Lease          *Lease          `json:"lease,omitempty"`
	Migration      *Migration      `json:"migration,omitempty"`
	CustomResource *CustomResource `json:"customResource,omitempty"`
	Candidate      *Candidate      `json:"candidate,omitempty"`
	// LeaderAction is what the object says of the leader that wrote to it.
	LeaderAction *LeaderAction `json:"leaderAction,omitempty"`
}

// StorageVersion is the content of a stored StorageVersion object.
type StorageVersion struct {
	Entries []Entry `json:"entries,omitempty"`
	// Common is the agreed version; nil where there is none.
	Common     *string     `json:"common,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// Entry is what one API server reports in a StorageVersion.
type Entry struct {
	ServerID  string   `json:"serverID"`
	Encoding  string   `json:"encoding"`
	Decodable []string `json:"decodable,omitempty"`
	Served    []string `json:"served,omitempty"`
}

// Condition is a condition of a StorageVersion or of a StorageVersionMigration.
type Condition struct {
	Type       string    `json:"type"`
	Status     string    `json:"status"`
	Transition time.Time `json:"transition"`
	Reason     string    `json:"reason,omitempty"`
	Message    string    `json:"message,omitempty"`
}

// Lease is the content of a stored Lease.
type Lease struct {
	Holder   string    `json:"holder,omitempty"`
	Duration int       `json:"durationSeconds,omitempty"`
	Acquired time.Time `json:"acquired,omitzero"`
	Renewed  time.Time `json:"renewed,omitzero"`
	// Transitions counts the changes of holder, as the Lease has it.
	Transitions int `json:"transitions,omitempty"`
	// Identity is whether its labels mark it as the identity Lease by which an
	// API server takes part.
	Identity bool `json:"identity,omitempty"`
	// Strategy by which its leader is elected, which marks a Lease as coordinated,
	// and Preferred, its preferredHolder, which is to hold it next.
	Strategy  string `json:"strategy,omitempty"`
	Preferred string `json:"preferred,omitempty"`
	// Coordinator is who coordinated it last, where the Lease says so: the holder of
	// the coordinators' own Lease, or no more than the host that it runs on.
	Coordinator string `json:"coordinator,omitempty"`
	// Renewer is the host of the instance that set its renewTime last, where the field managers
	// name it: the holder's, unless another instance of its component wrote to the Lease.
	Renewer string `json:"renewer,omitempty"`
}

// FaultPower and FaultPowerCut are type and action of a power cut: all processes
// of a member and its network are gone at once. Chaos Mesh has no kind for it.
const (
	FaultPower    = "Power"
	FaultPowerCut = "cut"
)

// FaultContainerKill is the action of a PodChaos that ends a component's process
// without warning, and FaultPodKill the one that deletes its Pod.
const (
	FaultContainerKill = "container-kill"
	FaultPodKill       = "pod-kill"
)

// FaultConflictStorm and FaultConflictStormEdits are type and action of a conflict storm:
// the harness edits StorageVersions over and over while an API server registers. Chaos
// Mesh has no kind for it.
const (
	FaultConflictStorm      = "ConflictStorm"
	FaultConflictStormEdits = "edits"
)

// FaultKeys is the type of a fault of requests to etcd about single keys, and
// FaultKeysHold and FaultKeysFail are its actions. Chaos Mesh has no kind for it.
const (
	FaultKeys     = "EtcdKeyFault"
	FaultKeysHold = "hold"
	FaultKeysFail = "fail"
)

// FaultAdmission is the type of a fault that has API servers deny writes by a policy,
// and FaultAdmissionDeny its action. Chaos Mesh has no kind for it.
const (
	FaultAdmission     = "AdmissionFault"
	FaultAdmissionDeny = "deny"
)

// Fault is a fault that was injected, was seen to have bitten, or was healed.
type Fault struct {
	// ID links the phases of one fault.
	ID string `json:"id"`
	// Type and Action are the Chaos Mesh kind and action, or FaultPower and
	// FaultPowerCut.
	Type   string `json:"type"`
	Action string `json:"action"`
	// Component that is hit; empty if it is the whole member.
	Component string `json:"component,omitempty"`
	// Group is that of the APIs of a FaultBackend.
	Group string `json:"group,omitempty"`
	// Objects are the names of the StorageVersions that a FaultConflictStorm is about.
	Objects []string `json:"objects,omitempty"`
	// Prefixes are those of the keys that a FaultKeys is about, or that the writes are
	// about that a FaultAdmission has denied, if these are Leases.
	Prefixes []string `json:"prefixes,omitempty"`
	Phase    Phase    `json:"phase"`
	// Count is, in the witness phase, how often the fault bit since its injection:
	// the writes of the member's server that met a conflict in a FaultConflictStorm, and the
	// requests that a FaultKeys held or failed, or a FaultAdmission had denied.
	Count int64 `json:"count,omitempty"`
	// Proof says in words what was seen that only the fault explains; set in
	// the witness phase. After the healing of a power cut it says what shows
	// that the member is back.
	Proof string `json:"proof,omitempty"`
	// Note says in half a sentence, in the heal phase, why the fault may have had no effect;
	// empty where nothing speaks for that.
	Note string `json:"note,omitempty"`
}

// FaultHTTP is the type of a fault that hits single requests of a controller to
// its API server, and the Actions are what it does.
const (
	FaultHTTP        = "HTTPChaos"
	FaultHTTPAbort   = "abort"
	FaultHTTPDelay   = "delay"
	FaultHTTPReplace = "replace"
)

// InterceptedRequest is a request of a controller to the API server of its member that
// a FaultHTTP intercepted. The event's From is when it came to the fault, At when it was
// over.
type InterceptedRequest struct {
	// Fault is the ID of the fault.
	Fault string `json:"fault"`
	// Component that asked.
	Component string `json:"component"`
	Method    string `json:"method"`
	// Path that was asked for, without a query; Watch is whether the query was for
	// a stream of changes.
	Path  string `json:"path"`
	Watch bool   `json:"watch,omitempty"`
	// Held is how long the fault kept the request from the API server, in
	// nanoseconds.
	Held int64 `json:"held,omitempty"`
	// Sent is whether the API server was asked.
	Sent bool `json:"sent,omitempty"`
	// Code is the status that the controller was answered with; 0 when it got no
	// answer.
	Code int `json:"code,omitempty"`
}

// End is the last event. A history without one was cut off.
type End struct {
	// Complete is whether the harness did its part: every step was played, or was
	// skipped because of the control plane, which NotReached tells. A run that the harness or
	// its machine has spoiled, or that was interrupted, is not complete.
	Complete bool   `json:"complete"`
	Message  string `json:"message,omitempty"`
	// NotReached are the NotReached events of the run, in words.
	NotReached []string `json:"notReached,omitempty"`
}
