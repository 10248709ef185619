package main

import "time"

const (
	// pullAnswer is how long a registry may take until it says what an image
	// consists of. It does so within a second or two where it can be reached.
	pullAnswer = 15 * time.Second
	// pullWhole is for a node image: about 400 MB over a slow line.
	pullWhole = 20 * time.Minute
	// containerdStart is for a containerd with an empty store; it takes a second.
	containerdStart = 60 * time.Second
)
