package fact

import "time"

// etcdDelay is how much later than etcd made a change its recorder tells of it, unless
// it says that it was delayed: it has a majority of etcd confirm every 200 ms that it has
// all that there is, and tells when nothing did so for this long (observe.EtcdAway).
const etcdDelay = time.Second

// requestDelay is how long after a harness has given up waiting for an answer its request may
// still be carried out: API servers end requests after a minute, and etcd within seconds of that.
const requestDelay = 90 * time.Second

// processDelay is how much later than a process started or ended its recorder tells of
// it: the local provider waits for the process, the kind provider's agent looks at the
// processes of the node four times a second.
const processDelay = 300 * time.Millisecond
