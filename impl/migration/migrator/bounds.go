package migrator

import "time"

// The bounds of this package, all in one place.
const (
	// RequestTimeout is the timeout of a request. It includes the time for which the rate
	// limiter delays a write, so it is longer than MostWriters need for one write each at
	// the lowest rate.
	RequestTimeout = time.Minute
	// Recheck is how often the loop looks again at what waits although nothing
	// was seen to change: a server may have come back, or a grace be over.
	Recheck = 5 * time.Second
	// DiscoveryFresh is for how long the list of resources is used again.
	DiscoveryFresh = 5 * time.Second
	// ProgressInterval is the least time between two reports of progress in the
	// status, so that reporting stays a small part of the writes. Where a chunk takes
	// longer, there is a report while it is written.
	ProgressInterval = 5 * time.Second

	// FlushTime is for how long the loop writes down what is remembered of resources before
	// it looks at migrations.
	FlushTime = 2 * time.Second
	// WritesPerWriter is how many writes a second one writer is trusted to manage;
	// a higher rate is shared by several, at most MostWriters.
	WritesPerWriter = 50
	MostWriters     = 16
)

// writers is how many writers a rate calls for.
func writers(rate float64) int {
	return min(MostWriters, 1+int(rate/WritesPerWriter))
}
