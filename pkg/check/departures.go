package check

import (
	"github.com/evenkeel/evenkeel/pkg/history"
)

// byObject counts things that control planes do to StorageVersions. What they
// may have done because the harness deleted the object does not count.
type byObject struct {
	counts map[string]int64
	asked  map[string]bool
}

// maxObjects is for how many StorageVersions something is counted.
const maxObjects = 1024

func (b *byObject) add(name string) {
	if b.counts == nil {
		b.counts = map[string]int64{}
	}
	if _, known := b.counts[name]; known || len(b.counts) < maxObjects {
		b.counts[name]++
	}
}

// observe notes which objects the harness deletes: its request may be told of
// before or after its effect.
func (b *byObject) observe(ev *history.Event) {
	r := ev.Request
	if r == nil || r.Verb != "delete" || r.Group != storageVersionGroup || r.Resource != storageVersionResource || len(b.asked) >= maxObjects {
		return
	}
	if b.asked == nil {
		b.asked = map[string]bool{}
	}
	b.asked[r.Name] = true
}

func (b *byObject) total() int64 {
	total := int64(0)
	for name, n := range b.counts {
		if !b.asked[name] {
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
