package migration

import "time"

// The bounds of this package, all in one place. None of them makes an outcome
// true.
const (
	// DefaultRate is the most single-object writes a second. KEP-25: fewer than
	// 10, so as to cause only insignificant load; at even distances of an eighth
	// of a second there are never more than nine in any second.
	DefaultRate = 8.0
	// LeastRate is what the rate never falls below, so that a migration makes
	// progress in a flaky environment.
	LeastRate = 0.5

	// ChunkTime is how long the writing of a chunk should take: progress is noted
	// that often, and a crash costs that much work. LeastChunk and MostChunk bound
	// how many objects that makes; the latter bounds the memory of a worker.
	ChunkTime  = 5 * time.Second
	LeastChunk = 20
	MostChunk  = 500

	// UnknownGrace is how long a resource that is not served, or not announced,
	// may take to appear before its migration fails.
	UnknownGrace = time.Minute
	// ObjectPatience is how long the migrator retries one object or one list after
	// errors of the server (500), over all workers of the migration.
	ObjectPatience = 10 * time.Minute
	// RefusedPatience replaces it once the server has refused an object: the migration
	// cannot succeed any more, and the worker only has to find out what else is refused.
	RefusedPatience = 15 * time.Second
	// OutagePatience is how long a migration waits for a server that is overloaded or does
	// not answer. It is longer than an outage that operators repair.
	OutagePatience = 24 * time.Hour
	// GiveWay is how long a worker may make no progress before another resource has its
	// turn. It is longer than an API server needs to restart.
	GiveWay = 30 * time.Second
	// AutomaticRetry is how long after a migration that failed or was aborted
	// another one is started automatically, unless the agreement changed.
	AutomaticRetry = time.Hour

	// RetryFirst and RetryMost bound the pause before something is tried again.
	RetryFirst = 200 * time.Millisecond
	RetryMost  = 15 * time.Second
)

// ChunkSize is how many objects are listed at a time, for a rate of writes a
// second.
func ChunkSize(rate float64) int64 {
	return int64(min(MostChunk, max(LeastChunk, rate*ChunkTime.Seconds())))
}

// Retry is the pause before an attempt that follows a number of failed ones; it
// is never shorter than the server's Retry-After.
func Retry(failed int, asked time.Duration) time.Duration {
	pause := RetryFirst
	for i := 1; i < failed && pause < RetryMost; i++ {
		pause *= 2
	}
	return max(min(pause, RetryMost), asked)
}
