package external

import "time"

// All bounds of the external provider. They bound waiting, never pace it: every wait
// ends as soon as its condition holds.
const (
	// meetBound is how long the API servers may take to say who they are, before
	// anything runs.
	meetBound = 30 * time.Second
	// askBound is how long the answer to one question may take.
	askBound = 5 * time.Second
	// meetings is how often each API server is asked at first who it is, each time over
	// a new connection: behind one address there must be one server.
	meetings = 3
	// comparisons is how often two servers that were started at the same moment are
	// compared before they count as one.
	comparisons = 5

	// lookSlow is the pause between two looks at whether an API server answers, and
	// lookFast while it does not, or while its end is being waited for.
	lookSlow = 250 * time.Millisecond
	lookFast = 50 * time.Millisecond
	// nameAgain is how often a server that has answered all the time is asked whether it
	// still is the same: no restart is shorter than that and unseen for long.
	nameAgain = 2 * time.Second

	// hookBound is how long a hook may take for which the topology says nothing else:
	// an upgrade by an installer takes minutes.
	hookBound = 10 * time.Minute
	// hookGrace is how long a hook may take to end after SIGTERM; then it is killed.
	hookGrace = 5 * time.Second
	// goneBound is how long an API server may go on answering after the hook that ends
	// it has ended.
	goneBound = 30 * time.Second
	// effectBound is how long it may take until what another hook did shows at the API
	// server, and silenceBound for how long one that is paused must leave a request without
	// an answer to count as such: an idle server answers within milliseconds.
	effectBound  = 30 * time.Second
	silenceBound = time.Second
	// readyBound is how long an API server may take from the end of the hook that starts
	// it until it is another process and ready.
	readyBound = 5 * time.Minute
	// readyPoll is the pause between two questions whether it is ready.
	readyPoll = 50 * time.Millisecond
	// stopGrace is how long a component may take to end after SIGTERM before the agent kills
	// it, as the kubelet does, and killGrace after SIGKILL.
	stopGrace = 30 * time.Second
	killGrace = 10 * time.Second
	// signalBound is how long the kernel may take to show a process as stopped or running
	// after the signal.
	signalBound = 2 * time.Second
	// agentRetry is the pause between two attempts to hear an agent.
	agentRetry = 50 * time.Millisecond
	// agentAwayBound is how long an agent may be away when a run begins.
	agentAwayBound = 15 * time.Second
	// dialBound is how long a client of etcd may take to reach it.
	dialBound = 5 * time.Second
)
