package link

import "time"

// All bounds of links.
const (
	// dialBound is how long a proxy may take to reach its server; on one
	// machine only one that is overloaded needs any time.
	dialBound = 5 * time.Second
	// acceptPause is how long a proxy that is out of descriptors waits before it
	// looks for the next connection.
	acceptPause = 50 * time.Millisecond
	// chunk is the most that a link takes in one piece.
	chunk = 32 << 10
	// queueLength is how many pieces may be under way in one direction of a
	// connection; beyond it the sender feels back pressure.
	queueLength = 256
)
