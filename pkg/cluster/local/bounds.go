package local

import "time"

// All bounds of the local provider. They bound waiting, never pace it: every
// wait ends as soon as its condition holds.
const (
	// readyBound is how long a component may take from its start until it is
	// ready. A reference API server needs about two seconds on an idle machine;
	// one of Kubernetes whose etcd is slow by a fault makes some thousand
	// requests to it first, one after the other. The rest is for machines that
	// are not idle.
	readyBound = 3 * time.Minute
	// readyPoll is the pause between two questions whether it is ready.
	readyPoll = 50 * time.Millisecond
	// probeBound is how long the answer to one such question may take.
	probeBound = 5 * time.Second
	// crashLimit is how often a component may exit while it is waited for,
	// before waiting on is pointless.
	crashLimit = 3

	// stopGrace is how long a component may take to end after SIGTERM; then it
	// is killed, as service managers do.
	stopGrace = 15 * time.Second
	// killBound is how long a process may take to vanish after SIGKILL. Only
	// one that hangs in the kernel needs longer than an instant.
	killBound = 5 * time.Second
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

	// dialBound is how long a link may take to reach its server; on the
	// loopback only a machine that is overloaded needs any time.
	dialBound = 5 * time.Second
	// linkChunk is the most that a link takes in one piece.
	linkChunk = 32 << 10
	// linkQueue is how many pieces may be under way in one direction of a
	// connection; beyond it the sender feels back pressure.
	linkQueue = 256

	// listBound is how long the distribution may take to list its releases.
	listBound = 30 * time.Second
	// buildBound is how long building the distribution from source may take.
	buildBound = 15 * time.Minute

	// certificateLife is how long a cluster's certificates are valid. Clusters
	// live for hours; the rest is for those that somebody forgot.
	certificateLife = 30 * 24 * time.Hour
	// clockSkew is how far certificates reach back.
	clockSkew = time.Hour

	// spacePerMember is the least free space that a member needs: etcd
	// allocates 64 MiB for its write-ahead log at once, twice.
	spacePerMember = 160 << 20

	// logTailLines and logTailBytes bound what of a log goes into an error.
	logTailLines = 3
	logTailBytes = 400
)
