//go:build linux

package kind

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// All bounds of the kind provider. They bound waiting, never pace it: every
// wait ends as soon as its condition holds.
const (
	// readyBound is how long a component may take from its start until it is
	// ready: the kubelet has to notice the static Pod and make its sandbox first.
	readyBound = 4 * time.Minute
	// trialBound is how long a program may take that is started with versions which it has to
	// refuse. One that looks at them first takes a few seconds, with its container.
	trialBound = time.Minute
	// mirrorBound is how long a kubelet may take to tell of the static Pods of its node,
	// once its API server is ready; it tries again every half a minute at the most.
	mirrorBound = 2 * time.Minute
	// readyPoll is the pause between two questions whether it is ready.
	readyPoll = 100 * time.Millisecond
	// probeBound is how long the answer to one such question may take.
	probeBound = 5 * time.Second
	// crashLimit is how often a component may exit while it is waited for,
	// before waiting on is pointless.
	crashLimit = 4

	// stopGrace is how long a component may take to end after SIGTERM; then it
	// is killed, as the kubelet does.
	stopGrace = 30 * time.Second
	// drainBound is how much of that an API server needs after its shutdown delay, so
	// that it ends by itself.
	drainBound = 5 * time.Second
	// killBound is how long a process may take to vanish after SIGKILL.
	killBound = 10 * time.Second
	// processPoll is the pause between two looks at what the agent has told.
	processPoll = 10 * time.Millisecond
	// signalBound is how long the kernel may take to show a process as stopped
	// or running after the signal.
	signalBound = 2 * time.Second

	// createBound is how long kind may take to bring its nodes up and kubeadm to
	// join them; some 50 s on two idle cores for three members.
	createBound = 10 * time.Minute
	// takeAwayRetry is the pause between two attempts to remove nodes that are
	// just being made.
	takeAwayRetry = time.Second
	// powerBound is how long a node may take from its power until its systemd takes
	// orders, and until its agent answers.
	powerBound = 2 * time.Minute
	// agentRetry is the pause between two attempts to reach a node's agent.
	agentRetry = 20 * time.Millisecond
	// engineBound is how long Docker may take for one command.
	engineBound = 2 * time.Minute
	// importBound is how long a node may take to import a release's images.
	importBound = 5 * time.Minute
	// upgradeBound is how long kubeadm may take to upgrade a member; some 160 s
	// for the first one, most of which it waits.
	upgradeBound = 8 * time.Minute

	// dialBound is how long a client of etcd may take to reach it.
	dialBound = 5 * time.Second
)

// checkShutdown refuses a shutdown delay after which the kubelet would kill the API
// server: it allows static Pods stopGrace, as kubeadm writes them.
func checkShutdown(settings cluster.Settings) error {
	if delay := time.Duration(settings.ShutdownDelayDuration); delay > stopGrace-drainBound {
		return fmt.Errorf("spec.settings.shutdownDelayDuration %s is longer than %s: kubelets kill an API server %s after SIGTERM", delay, stopGrace-drainBound, stopGrace)
	}
	return nil
}
