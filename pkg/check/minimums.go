package check

import "time"

// The least that a check must have seen before it may say pass. Each number is
// small enough for the shortest scenario that judges the requirement, and
// large enough that a run in which the promise was never put to the test falls
// below it.
const (
	// needWritesEach: guarded writes of each member that were judged.
	needWritesEach = 3
	// needHolds: holds of each kind (mixed, finished) that were judged.
	needHolds = 1
)

// Bounds in time that checks allow.
const (
	// recorderLag bounds how much later than it happened the etcd recorder tells
	// of a change while it hears of etcd, or has just lost the one that it followed;
	// for how long it heard of none the history says, see aways.
	recorderLag = 5 * time.Second
	// lookedWithin is how long a server must have been ready before it counts
	// that nobody asked what it hosts: the recorder needs about a second on a
	// busy machine, and the server may be taken away meanwhile.
	lookedWithin = 10 * time.Second
	// writeUntold is how far the two sides of a write may be apart: a request
	// may take three seconds, and the etcd recorder five to tell of it, the time aside
	// in which it heard of no etcd. It is twice that, because being wrong here would make
	// everything doubtful.
	writeUntold = 15 * time.Second
	// tail is how much of a history's end may be too late to be judged: the run
	// could as well have ended before.
	tail = 2 * time.Second
)

// Bounds in time of discovery.
const (
	// underWay is longer than any request of the harness that defines or deletes
	// something.
	underWay = 5 * time.Second
)

// Bounds in memory.
const (
	// maxViolations is how many violations of one requirement are kept with
	// their evidence; the rest is counted.
	maxViolations = 20
	// maxDeviations is how many examples of a deviation are kept with their
	// evidence; the rest is counted.
	maxDeviations = 5
)
