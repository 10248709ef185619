//go:build linux

package agent

import "time"

// All bounds of the agent.
const (
	// scanInterval is the pause between two looks at the node's processes. A
	// component needs some hundred milliseconds from its start until it serves,
	// and must be known before.
	scanInterval = 20 * time.Millisecond
	// toldAtOnce is how long ago an event may have been that counts as told at once, which laws
	// allow for.
	toldAtOnce = 200 * time.Millisecond
	// mostSkipped is how many looks in a row are spared at most while the kernel says
	// that nothing was started.
	mostSkipped = 50
	// settleTicks is how old a process must be, in clock ticks of which a second
	// has ticksPerSecond, before it is taken to stay what it is.
	settleTicks    = 3 * ticksPerSecond
	ticksPerSecond = 100
	// logScanInterval is the pause between two looks for new log files, and
	// logReadInterval that between two looks for more of a known one. The kubelet
	// removes a Pod's logs with the Pod, but who has them open can read on.
	logScanInterval = 200 * time.Millisecond
	logReadInterval = 200 * time.Millisecond
	// clearedBound is how long the kubelet may take to put away what is left of a
	// static Pod; two seconds are the rule. clearedPoll is the pause between two looks.
	clearedBound = 10 * time.Second
	clearedPoll  = 50 * time.Millisecond
	// ruleBound is how long one change of the node's packet filter may take.
	ruleBound = 10 * time.Second
	// dialBound is how long a connection to a server of the node itself may take to
	// come about.
	dialBound = 5 * time.Second
	// askBound is how long a component may take to tell whether it is ready.
	askBound = 5 * time.Second
	// answerBound is how long the agent may take for an answer, events apart. It is
	// above all that the agent waits for; only one in a node that stands still
	// needs longer.
	answerBound = 30 * time.Second
	// endBound is how long a process may take to vanish after SIGKILL.
	endBound = 10 * time.Second
	// shutdownBound is how long requests may take to end when the agent ends.
	shutdownBound = time.Second
	// headerBound is how long a client may take to send the header of a request.
	headerBound = 10 * time.Second
)

// Bounds of an installed agent.
const (
	// SilenceBound is for how long an installed agent may hear nothing of the harness of a
	// session before it takes back what it did, and ends.
	SilenceBound = 20 * time.Second
	// RenewInterval is the pause after which a harness renews its session.
	RenewInterval = 4 * time.Second
	// silencePoll is the pause between two looks at whether the harness has fallen silent.
	silencePoll = time.Second
	// bequestBound is how long the removal of what a run has made may take to be asked for after
	// that, tried again every bequestRetry; a request may take bequestAttempt. The right to it
	// and the account go with what it removes, but an API server that starts may refuse everything for a while:
	// only when all have refused bequestRefusals times in a row it is taken to be done. Of the 120 s in
	// which everything is gone that a killed run has made, SilenceBound and this leave 50 s to the
	// garbage collector.
	bequestBound = 50 * time.Second
	// hearingBound is how long a harness that lives may take to be heard again when the network is
	// whole: a renewal that got lost, and the next one.
	hearingBound    = 3 * RenewInterval
	bequestRetry    = time.Second
	bequestAttempt  = 5 * time.Second
	bequestRefusals = 5
)
