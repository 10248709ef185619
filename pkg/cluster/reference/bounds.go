package reference

import "time"

const (
	// listBound is how long the binary may take to list its releases.
	listBound = 30 * time.Second
	// buildBound is how long building it from source may take.
	buildBound = 15 * time.Minute
)
