package etcdproxy

import "time"

// All bounds of the proxy.
const (
	// reconnect is the longest pause between two attempts to reach etcd: one that
	// is up again must not be waited for because of the proxy.
	reconnect = 200 * time.Millisecond
	// dialBound is how long one attempt may take.
	dialBound = 5 * time.Second
	// pingLeast is how often a client may ping; etcd allows as much.
	pingLeast = time.Second
)
