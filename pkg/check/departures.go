package check

import (
	"github.com/evenkeel/evenkeel/pkg/history"
)

// byObject counts things that control planes do to StorageVersions.
type byObject map[string]int64

// maxObjects is for how many StorageVersions something is counted.
const maxObjects = 1024

func (b byObject) add(name string) {
	if _, known := b[name]; known || len(b) < maxObjects {
		b[name]++
	}
}

// total is the count, at the end of the history, without the objects that the harness
// asked to remove: what was done to these need not be the control plane's.
func (b byObject) total(w *World) (total int64) {
	for name, n := range b {
		if len(w.removals.asked[name]) == 0 {
			total += n
		}
	}
	return total
}

const storageVersionResource = "storageversions"

// takesPart is whether a server's identity Lease is there now.
func (w *World) takesPart(id string) bool {
	l := w.leases[id]
	return l != nil && l.there()
}

// leaseChange gives the server whose identity Lease an event made or deleted.
func leaseChange(ev *history.Event) (id string, gone, ok bool) {
	if !joinedOrLeft(ev) {
		return "", false, false
	}
	return ev.Stored.Key[len(identityLeasePrefix):], ev.Stored.Type == history.StoredDelete, true
}
