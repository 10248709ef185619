package coordinator

import "time"

// The bounds of this package, all in one place.
const (
	// LeaseDuration, RenewDeadline and RetryPeriod are those of the coordinators' own
	// Lease, and what Kubernetes uses.
	LeaseDuration = 15 * time.Second
	RenewDeadline = 10 * time.Second
	RetryPeriod   = 2 * time.Second

	// requestBound is the timeout of a request.
	requestBound = 4 * time.Second
	// retryLeast and retryMost bound the pause after a failure. The most is well
	// below what a passing failure may cost an election.
	retryLeast = 50 * time.Millisecond
	retryMost  = 3 * time.Second
	// toldWithin is how long a coordinator waits for the watch event of its own write.
	toldWithin = 2 * time.Second
	// collectInterval is the pause between two looks for dead candidates.
	collectInterval = 10 * time.Second
)
