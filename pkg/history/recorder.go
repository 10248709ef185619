package history

// The recorders, by the names that RecorderMissed and RecorderDelayed give them.
const (
	SourceEtcd              = "etcd"
	SourceWatch             = "watch"
	SourceReady             = "ready"
	SourceRequest           = "request"
	SourceHostedResources   = "hostedResources"
	SourceDiscoveryDocument = "discoveryDocument"
	SourceRead              = "read"
	SourceVisibility        = "visibility"
	SourceEtcdHash          = "etcdHash"
	SourceCustomResource    = "customResourceAnswer"
	SourceLoadBalancer      = "loadBalancer"
	// SourceClock is the clock that all times of a history are read from: a clock that was
	// set, or a machine that slept.
	SourceClock = "clock"
)

// recorderSources are all recorders. An event that names an unknown one breaks the format,
// because a judge cannot tell which laws rely on it.
var recorderSources = []string{
	SourceEtcd, SourceWatch, SourceReady, SourceRequest, SourceHostedResources, SourceDiscoveryDocument,
	SourceRead, SourceVisibility, SourceEtcdHash, SourceCustomResource, SourceLoadBalancer, SourceClock,
}

// RecorderMissed says that a recorder may have missed something, and why. A law that relies
// on this recorder must not pass on such a history.
type RecorderMissed struct {
	// Source is one of the Source… values.
	Source  string `json:"source"`
	Message string `json:"message"`
}

// RecorderDelayed says that a recorder received nothing from Event.From to Event.At: what it
// records next may have happened that much earlier. It missed nothing.
type RecorderDelayed struct {
	// Source is one of the Source… values. Only the recorder of etcd records this event.
	Source string `json:"source"`
}
