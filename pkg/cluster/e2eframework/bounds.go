package e2eframework

import "time"

// All bounds of the adapter. They bound waiting, never pace it: every wait ends
// as soon as its condition holds.
const (
	// readyBound is how long all API servers together may take to answer that
	// they are ready. They were ready when Create returned, so only a machine
	// that is overloaded, or a member that died since, needs any of it.
	readyBound = 3 * time.Minute
	// readyPoll is the pause between two questions whether one is ready.
	readyPoll = 100 * time.Millisecond
	// probeBound is how long the answer to one such question may take.
	probeBound = 5 * time.Second
	// destroyBound is how long taking a cluster down may take. Processes end
	// within seconds; the rest is for containers on a busy machine.
	destroyBound = 2 * time.Minute
)
