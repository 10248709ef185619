package controllermanager

import "time"

// The bounds of this package, all in one place.
const (
	// DefaultLeaseDuration, DefaultRenewDeadline and DefaultRetryPeriod are the
	// timings of the leader Lease that Kubernetes uses.
	DefaultLeaseDuration = 15 * time.Second
	DefaultRenewDeadline = 10 * time.Second
	DefaultRetryPeriod   = 2 * time.Second

	// HealthTolerance is how long a leader may fail to renew, beyond its Lease,
	// and still be called healthy.
	HealthTolerance = 20 * time.Second

	// DefaultExtraElections is how many components that do nothing but act a process is an
	// instance of.
	DefaultExtraElections = 1

	// CollectorWorkers is how many objects are worked on at a time.
	CollectorWorkers = 2
	// CollectorResync is how often all objects are looked at, as its followers show them,
	// although nothing was seen to change.
	CollectorResync = 30 * time.Second
	// CollectorRetry and CollectorRetryMax bound the pause before an object is
	// looked at again after a failure. The most keeps the removal of a departed
	// server's entries well within 30 s of the moment that it becomes possible.
	CollectorRetry    = 20 * time.Millisecond
	CollectorRetryMax = 5 * time.Second
)
