//go:build linux

package agent

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// The files in the folder that node and harness share, as the node sees it.
const (
	// Shared is where the node has the folder.
	Shared = "/evenkeel"
	// ConfigFile and SocketFile are in it.
	ConfigFile = "agent.json"
	SocketFile = "agent.sock"
	// Logs is where the node has the folder for the logs of its components.
	Logs = "/evenkeel-logs"
)

// Config is what the agent is told of its member.
type Config struct {
	Member string `json:"member"`
	// Seed of the jitter of links.
	Seed int64 `json:"seed"`
	// Manifests is the folder of the kubelet's static Pods.
	Manifests string `json:"manifests"`
	// Pods is the folder in which the kubelet has one for each Pod, with another for
	// each container in it.
	Pods       string      `json:"pods"`
	Components []Component `json:"components"`
	Keys       Keys        `json:"keys"`
}

// Component says how a component of the member is recognized.
type Component struct {
	Name cluster.Component `json:"name"`
	// Program is the name of its executable, and Argument the first argument;
	// empty if any will do.
	Program  string `json:"program"`
	Argument string `json:"argument,omitempty"`
	// Pod is the name of its static Pod, which is also that of its manifest
	// without .yaml and of its container.
	Pod string `json:"pod"`
	// Health is the URL by which it tells whether it is ready; empty if another program
	// outside can ask it.
	Health string `json:"health,omitempty"`
}

// Event tells that a process of a component was found, or is gone.
type Event struct {
	Component cluster.Component `json:"component"`
	Gone      bool              `json:"gone,omitempty"`
	PID       int               `json:"pid"`
	StartTime int64             `json:"startTime"`
	// Ago is how long it has been since when it is told of.
	Ago time.Duration `json:"ago"`
	// Now is no event: what came before it in the stream had happened when the stream began.
	Now bool `json:"now,omitempty"`
}

// late is how long ago it was, where it is told of later than what happens at once: the agent
// itself had to start, or to be reached again.
func (e Event) late() time.Duration {
	if e.Ago <= toldAtOnce {
		return 0
	}
	return e.Ago
}

// renewal renews a session.
type renewal struct {
	Bequest *Bequest `json:"bequest,omitempty"`
}

// clearing asks to wait until the kubelet is done with a component's static Pod.
type clearing struct {
	Component cluster.Component `json:"component"`
}

// end asks to end a component's processes.
type end struct {
	Component cluster.Component `json:"component"`
	// Signal is sent to each of them.
	Signal int `json:"signal"`
	// Away takes the static Pod away first, so that the kubelet does not start it again.
	Away bool `json:"away,omitempty"`
}

// signaled is the answer to end.
type signaled struct {
	Processes []cluster.Process `json:"processes"`
}

// pod is a static Pod to put into its place.
type pod struct {
	Component cluster.Component `json:"component"`
	Manifest  []byte            `json:"manifest"`
}

// shaping asks for the shape of a link.
type shaping struct {
	Link  cluster.Link  `json:"link"`
	Shape cluster.Shape `json:"shape"`
}
