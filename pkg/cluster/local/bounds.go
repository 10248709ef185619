package local

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// All bounds of the local provider. They bound waiting, never pace it: every
// wait ends as soon as its condition holds.
const (
	// readyBound is how long a component may take from its start until it is
	// ready. A reference API server needs about two seconds on an idle machine;
	// one of Kubernetes whose etcd is slow by a fault makes some thousand
	// requests to it first, one after the other. The rest is for machines that
	// are not idle.
	readyBound = 3 * time.Minute
	// trialBound is how long a program may take that is started with versions which it has to
	// refuse. One that looks at them first takes a second, also on a slow machine.
	trialBound = time.Minute
	// readyPoll is the pause between two questions whether it is ready.
	readyPoll = 50 * time.Millisecond
	// probeBound is how long the answer to one such question may take.
	probeBound = 5 * time.Second
	// crashLimit is how often a component may exit while it is waited for,
	// before waiting on is pointless.
	crashLimit = 3

	// stopGrace is how long a component may take to end after SIGTERM, beside the delay
	// that an API server was given for that (see stopBound); then it
	// is killed, as service managers do.
	stopGrace = 15 * time.Second
	// killBound is how long a process may take to vanish after SIGKILL. It takes longer than an
	// instant only while the process waits in the kernel, such as etcd for a disk: more than 5 s
	// were seen while another program deleted 20 GB of files.
	killBound = 30 * time.Second
	// signalBound is how long the kernel may take to show a process as stopped
	// or running after the signal.
	signalBound = 2 * time.Second
	// signalPoll is the pause between two looks at the process table.
	signalPoll = 2 * time.Millisecond

	// A component that exits by itself is started again as a kubelet would do
	// it, after restartFirst, then twice as long each time up to restartMost;
	// after having run for restartForget the count begins anew. A kubelet waits
	// from 10 s up to 5 min; scenarios do not last that long.
	restartFirst  = 500 * time.Millisecond
	restartMost   = 8 * time.Second
	restartForget = 30 * time.Second

	// dialBound is how long a client of etcd may take to reach it.
	dialBound = 5 * time.Second

	// balancerCheck is how often the load balancer asks each member whether it is ready, and
	// balancerCheckBound how long the answer may take; load balancers in front of API servers
	// do so every one to ten seconds.
	balancerCheck      = time.Second
	balancerCheckBound = time.Second

	// spacePerMember is the least free space that a member needs: etcd
	// allocates 64 MiB for its write-ahead log at once, twice.
	spacePerMember = 160 << 20
)

// stopBound is how long a component may take to end after SIGTERM: an API server serves
// on for as long as the topology says before it begins to stop.
func stopBound(component cluster.Component, settings cluster.Settings) time.Duration {
	if component == cluster.APIServer {
		return stopGrace + time.Duration(settings.ShutdownDelayDuration)
	}
	return stopGrace
}
