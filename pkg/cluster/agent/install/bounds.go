//go:build linux

package install

import "time"

// All bounds of installing and removing an agent. They bound waiting, never pace it.
const (
	// readyBound is how long the agents may take to run on all control-plane nodes: the nodes
	// pull the image first.
	readyBound = 3 * time.Minute
	// goneBound is how long the API servers may take to delete all of an installation; an
	// agent takes everything back before it ends.
	goneBound = 3 * time.Minute
	// poll is the pause between two looks.
	poll = 500 * time.Millisecond
	// undoBound is how long the removal of half an installation may take.
	undoBound = 3 * time.Minute
)
