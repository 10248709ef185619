package fault

import "time"

// Bounds of the executor.
const (
	// EndedTimeout bounds the wait until a killed process is seen to be gone.
	EndedTimeout = 5 * time.Second
	// AnswerTimeout is how long an API server may take for an answer before its
	// power is cut. One that is silent by then can give no witness.
	AnswerTimeout = 5 * time.Second
	// LookInterval is the pause between two looks at a process.
	LookInterval = 10 * time.Millisecond
	// SilenceBound is for how long an API server that is paused or cut off must
	// leave a request without an answer to count as such.
	SilenceBound = 400 * time.Millisecond
	// PolicyTimeout bounds the wait until API servers have noticed that a policy was
	// made or taken away, which takes them about a second, and PolicyInterval is the
	// pause between two tries.
	PolicyTimeout  = 30 * time.Second
	PolicyInterval = 100 * time.Millisecond
	// RoundTrips is how many round trips are measured before and during a
	// delay; the shortest counts.
	RoundTrips = 3

	// shownTo is how finely a witness tells of times.
	shownTo = 100 * time.Microsecond
)
