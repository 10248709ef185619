package storageversion

import "time"

// The bounds of this package, all in one place. None of them makes an answer
// true: agreement, membership and the barrier are safe whatever they are.
const (
	// DefaultLeaseDuration is how long a server takes part without renewing its
	// identity Lease. It is what Kubernetes uses.
	DefaultLeaseDuration = time.Hour
	// DefaultRenewInterval is the time between two renewals.
	DefaultRenewInterval = 10 * time.Second
	// RenewRetry is the longest time between two attempts once one has failed.
	RenewRetry = time.Second
	// JoinRetry is the longest time between two attempts to join.
	JoinRetry = 500 * time.Millisecond

	// RequestTimeout is the timeout of a request of this package. A write may still
	// take effect afterwards; every write has a precondition, so a retry is safe.
	RequestTimeout = 5 * time.Second

	// RegistrationWorkers is how many resources a server registers at a time.
	RegistrationWorkers = 4
	// ConflictRetry and ConflictRetryMax bound the pause after a conflict. It is
	// short: the pause is between attempts, not inside one, so it does not make a
	// conflict with another writer more likely.
	ConflictRetry    = 10 * time.Millisecond
	ConflictRetryMax = 250 * time.Millisecond
	// ReportPatience is how long the report of an object is tried before its owner gets
	// the error: registration, a round of verification, or the caller of Publish. The
	// owner tries again; each object has its turn meanwhile.
	ReportPatience = 10 * time.Second
	// ErrorRetry and ErrorRetryMax bound the pause after any other failure.
	ErrorRetry    = 50 * time.Millisecond
	ErrorRetryMax = 2 * time.Second

	// VerificationInterval is the time between two rounds in which a registered
	// server compares all its objects with what it would publish. Damage that a
	// watch shows is repaired at once; the rounds are for what it missed.
	VerificationInterval = time.Minute

	// LeaseGCInterval is the time between two searches for expired identity
	// Leases.
	LeaseGCInterval = 30 * time.Second
	// LeaseGCGrace is how much longer than its duration a Lease is kept. It
	// covers clocks that differ between servers and a write that was under way
	// when its server was fenced.
	LeaseGCGrace = 10 * time.Second

	// EmptyGrace is how long an object may exist without entries before it is
	// garbage: creating an object and reporting in it takes two writes.
	EmptyGrace = 30 * time.Second

	// RetryAfterSeconds is the Retry-After that the barrier returns to clients.
	RetryAfterSeconds = 1
)
