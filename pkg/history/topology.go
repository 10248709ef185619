package history

// Topology is what a history keeps of the topology as it was played. The bundle has
// all of it.
type Topology struct {
	// Name of the topology.
	Name string `json:"name"`
	// ReplaceWith is how a member gets another release, where the topology says so.
	ReplaceWith string `json:"replaceWith,omitempty"`
	// Settings of the components that it makes, by name, in its own notation; what is
	// not named is as the components have it by default.
	Settings map[string]string `json:"settings,omitempty"`
}
