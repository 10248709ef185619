// Package cluster says what a control plane under test is to the harness:
// members made of components, that can be stopped, started at another release,
// killed, paused and slowed down. Providers (local processes, kind, a cluster
// of the user's own) implement it; nothing else knows how a member runs.
//
// Others may build on it: on Cluster, the abilities beside it, Topology and the errors.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/credential"
)

// Component is a process that a member consists of.
type Component string

// The components of a control-plane member.
const (
	Etcd              Component = "etcd"
	APIServer         Component = "apiserver"
	ControllerManager Component = "controller-manager"
	Scheduler         Component = "scheduler"
	// AggregatedServer is an API server that the member's API server proxies a group to.
	AggregatedServer Component = "aggregated-apiserver"
)

// Whole stands for all of a member where Pause, Resume and Paused take a
// component: everything that runs on it stands still at the same time, as a
// machine does that is suspended or starved. No other operation takes it.
const Whole Component = "whole"

// Link is a network path that starts or ends at a member.
type Link string

// The links of a member.
const (
	// LinkClient leads from clients outside to the member's API server.
	LinkClient Link = "client"
	// LinkEtcd leads from the member's API server to its etcd.
	LinkEtcd Link = "etcd"
	// LinkPeer leads between the other members' etcd and the member's etcd,
	// whichever of the two dialed: etcd sends over connections that it accepted
	// too, so a cut that knew only one side would isolate no member.
	LinkPeer Link = "peer"
	// LinkComponents leads from the member's own controllers to its API server.
	LinkComponents Link = "components"
	// LinkNode is all that connects the member with others: the other members,
	// a load balancer, and the clients that come over LinkClient. Cutting it cuts
	// the node off; only the harness's own direct way is left.
	LinkNode Link = "node"
)

// Member is what is known of one control-plane member before anything runs.
type Member struct {
	Name string
	// Host is the host name that the member's components see. The identities by
	// which they stand for election begin with it. It need not be the Name:
	// a provider may have to call its hosts after the cluster.
	Host string
	// ServerID is the identity that its API server takes part under.
	ServerID string
	// Components that the member has, in the order in which they start.
	Components []Component
}

// Process names one process of a component. The pair of PID and StartTime is
// never given to a second process while the machine is up.
type Process struct {
	// PID is 0 where the provider sees no processes, and knows of one only from what
	// that says of itself.
	PID int
	// StartTime is the kernel's start time in clock ticks since boot; without a PID it
	// is in hundredths of a second since 1970, by the process's own word.
	StartTime int64
}

// Seen is whether the provider sees the process itself.
func (p Process) Seen() bool { return p.PID != 0 }

// Change is what a Cluster tells an Observer of a component's process.
type Change struct {
	Member    string
	Component Component
	// What is one of the history package's Process… values.
	What string
	// Instance counts the processes of this member and component from 1.
	Instance int
	Process  Process
	Release  string
	// Off are the features that the process was started without.
	Off []Feature
	// Exit says how the process ended, in words; only for an exit.
	Exit string
	// Expected is whether the provider ended the process on request.
	Expected bool
	// Forced is whether the process had not ended within the bound of an orderly stop,
	// so that SIGKILL ended it.
	Forced bool
	// Noticed is whether the provider sees no processes, and has learned of this from
	// the API server's own answers: it may have happened some time before.
	Noticed bool
	// Ago is how long it had been when the provider told of it, where that was too long to count
	// as at once.
	Ago time.Duration
	// Given is whether the process ran before the provider began to look, so that it is not
	// known when it was started.
	Given bool
}

// Observer is told of every change as it happens, from any goroutine, and
// must not block. Started is told as soon as the process exists, before it
// serves.
type Observer func(Change)

// Shape is what a faulty link does to the bytes that pass. The zero value is
// a healthy link.
type Shape struct {
	// Latency is added to each direction.
	Latency time.Duration
	// Jitter is added at random to Latency, up to this value.
	Jitter time.Duration
	// Cut lets nothing pass and answers no new connection; existing ones hang.
	// As over a real network, what was sent into a cut arrives late if both
	// ends still wait when it heals: a request without an answer may yet have
	// its effect.
	Cut bool
	// Only limits Cut to one direction of existing connections; empty cuts both.
	Only Direction
}

// Validate says what is wrong with a shape.
func (s Shape) Validate() error {
	if s.Latency < 0 || s.Jitter < 0 {
		return errors.New("latency and jitter must not be negative")
	}
	if s.Only != "" && s.Only != ToServer && s.Only != ToClient {
		return fmt.Errorf("there is no direction %q", s.Only)
	}
	return nil
}

// Direction is one way along a link.
type Direction string

// The directions of a link.
const (
	ToServer Direction = "to-server"
	ToClient Direction = "to-client"
)

// LinkStats counts what a link has carried; a fault's witness compares it.
type LinkStats struct {
	Connections int64
	// BytesToServer and BytesToClient passed on.
	BytesToServer, BytesToClient int64
	// Withheld counts the connections and the pieces of data that a cut held
	// back. That it grew proves that the cut was felt.
	Withheld int64
	// Delayed counts the pieces of data that left a slow link no sooner than its
	// latency after they came. That it grew proves that the link was slow, which
	// the time of an answer alone does not: a busy machine is slow too.
	Delayed int64
}

// Cluster is a control plane under test: what every provider can do, in parts that a caller
// can ask for alone. What only some can do are interfaces of their own, such as NodeUpgrader
// and LoadBalanced, which a caller finds by a type assertion, and never by the provider's
// name. Methods may be called from several goroutines; a member's operations exclude each
// other. All return an error that says in one sentence what was tried, what went wrong and
// what to do; of what the provider cannot do, ErrUnsupported is in its chain.
type Cluster interface {
	Describer
	Lifecycle
	ComponentOperator
	Pauser
	PowerSwitcher
	ProcessWatcher
	LinkShaper
	Connector
}

// Describer tells what a control plane consists of.
type Describer interface {
	// Members in the order of the topology.
	Members() []Member
	// Releases are those that a member can be replaced with, oldest first.
	Releases() []string
	// Release that the member runs, or ran last.
	Release(member string) string
	// LogDir holds one log file for each component, <member>-<component>.log.
	LogDir() string
}

// Lifecycle brings a control plane up and down.
type Lifecycle interface {
	// Start brings all members up in parallel and returns when every component
	// is ready.
	Start(ctx context.Context) error
	// Stop ends everything that Start began and removes what it left, except
	// the logs. It is safe to call at any moment and more than once.
	Stop(ctx context.Context) error
}

// ComponentOperator starts and stops members and their components.
type ComponentOperator interface {
	// StopMember ends all components of a member as a service manager would
	// (terminate, then kill after a bound).
	StopMember(ctx context.Context, member string) error
	// StartMembers starts all components of the members that are named, each at the
	// release that is given with its name, and waits until they are ready. Where the
	// provider can, it starts a component at all of them when those before it are ready
	// at all of them: API servers begin at one time then, whichever etcd came last.
	StartMembers(ctx context.Context, releases map[string]string) error
	// StartComponent starts one component at the member's release, and waits
	// until it is ready.
	StartComponent(ctx context.Context, member string, component Component) error
	// StopComponent ends one component as a service manager would.
	StopComponent(ctx context.Context, member string, component Component) error
	// Kill ends a component's process without warning and leaves it down.
	Kill(ctx context.Context, member string, component Component) error
}

// Pauser freezes what runs on a member.
type Pauser interface {
	// Pause stops a component's process from running; Resume lets it go on. With
	// Whole they do so for all that runs on the member, and the Observer is told
	// of each component; a Pause that fails has let everything go on again. It is
	// an error if nothing runs.
	Pause(ctx context.Context, member string, component Component) error
	Resume(ctx context.Context, member string, component Component) error
	// Paused is whether the kernel really holds the component's process; with
	// Whole, whether it holds all that runs on the member, which is an error if
	// nothing does.
	Paused(member string, component Component) (bool, error)
}

// PowerSwitcher cuts the power of a member.
type PowerSwitcher interface {
	// PowerOff takes a member's power away: all its processes and its network
	// are gone at once, without warning, and stay away. It is an error if
	// nothing of the member runs. PowerOn brings the member back at the release
	// it ran, with the data it had on disk, and waits until all its components
	// are ready. The exits that a power cut causes are expected ones.
	PowerOff(ctx context.Context, member string) error
	PowerOn(ctx context.Context, member string) error
}

// ProcessWatcher tells of the processes of members.
type ProcessWatcher interface {
	// Process that runs now; ok is false where there is none.
	Process(member string, component Component) (p Process, ok bool)
}

// LinkShaper cuts and delays the links of members.
type LinkShaper interface {
	// SetLink shapes a link; the zero Shape heals it.
	SetLink(ctx context.Context, member string, link Link, shape Shape) error
	// LinkStats tells what a link has carried since the start.
	LinkStats(member string, link Link) (LinkStats, error)
}

// Connector leads to the API servers and etcd of members.
type Connector interface {
	// ClientConfig reaches one member's API server as an administrator:
	// directly, or through its client link when faulty is set.
	ClientConfig(member string, faulty bool) (*rest.Config, error)
	// EtcdConfig reaches one member's etcd directly.
	EtcdConfig(member string) (clientv3.Config, error)
	// Credentials are all that open the cluster and that it has made or was given so
	// far, those of what it has replaced since among them: nothing that is kept of a run
	// may hold one. More may come for as long as the cluster lives, and after Stop they may
	// not be known any more. What could be learned is also given with an error,
	// which says that more may be there.
	Credentials(ctx context.Context) ([]credential.Credential, error)
}

// KubeconfigWriter is a Cluster that leaves a kubeconfig file with one context
// for each member, named after it, that bypasses all links.
type KubeconfigWriter interface {
	// Kubeconfig is the path of the file; it lives until Stop.
	Kubeconfig() string
}
