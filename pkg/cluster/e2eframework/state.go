package e2eframework

// The states of a node.
const (
	// NodeRunning: all components of the member run.
	NodeRunning = "running"
	// NodeStopped: none of them does.
	NodeStopped = "stopped"
	// NodeImpaired: some of them are down or paused, so it is neither.
	NodeImpaired = "impaired"
)

// activity is what a component does.
type activity int

const (
	down activity = iota
	frozen
	active
)

// stateOf a node follows from what its components do. One without components
// does not run.
func stateOf(components []activity) string {
	stopped, running := true, len(components) > 0
	for _, one := range components {
		stopped = stopped && one == down
		running = running && one == active
	}
	switch {
	case running:
		return NodeRunning
	case stopped:
		return NodeStopped
	default:
		return NodeImpaired
	}
}
