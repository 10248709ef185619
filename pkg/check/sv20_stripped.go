package check

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv20: the collector never strips the entry of a server that lives, whatever its
// look-ups return (KEP-2339, garbage collection: what is removed are stale
// entries, and a server that takes part has none). It was put to the test only if
// look-ups of identity Leases failed after objects had changed that gave the
// collector something to do: one with a stale entry beside those of participants,
// or one of a server that had joined meanwhile.
type sv20 struct {
	findings
	losses
	blind, tempted int64
	// pending are the changed objects after which no look-up has failed yet, with
	// when they changed.
	pending map[string]int64
}

func newSV20() *sv20 { return &sv20{losses: newLosses(), pending: map[string]int64{}} }

func (c *sv20) Observe(w *World, ev *history.Event) {
	for _, l := range c.losses.observe(w, ev) {
		if w.raced(l) {
			continue // SV-19's
		}
		what := "lost the entry of"
		if l.withObject {
			what = "was removed with the entry of"
		}
		c.infer(w, at(l.seq), "%s %s %s, which takes part", l.name, what, l.id)
	}
	if name, now, ok := changedStorageVersion(ev); ok {
		delete(c.pending, name)
		if now != nil && w.temptsCollector(now) {
			c.pending[name] = ev.At
		}
	}
	if x := ev.Exchange; x != nil && x.Component == history.ComponentControllerManager && w.failedLookup(x) {
		c.blind++
		for _, name := range sortedKeys(c.pending) {
			if ev.From > c.pending[name] {
				c.tempted++
				delete(c.pending, name)
			}
		}
	}
}

// temptsCollector is whether an object has entries to be removed beside others that
// must stay.
func (w *World) temptsCollector(sv *history.StorageVersion) bool {
	stale, live := false, false
	for _, e := range sv.Entries {
		if w.takesPart(e.ServerID) {
			live = true
		} else {
			stale = true
		}
	}
	return stale && live
}

// failedLookup is whether a controller manager asked for identity Leases and got no
// answer, or one that tells of a failure. A missing Lease is no failure.
func (w *World) failedLookup(x *history.Exchange) bool {
	if x.Method != "GET" || x.Code != 0 && x.Code < 400 || x.Code == 404 {
		return false
	}
	list, name, one := strings.Cut(x.Path, "/leases/")
	if !one {
		list, one = strings.CutSuffix(x.Path, "/leases")
		return one && strings.HasPrefix(list, leasesPath)
	}
	return strings.HasPrefix(list, leasesPath) && identityLeasePrefix+name != leaderLease
}

// leasesPath is where API servers have Leases.
const leasesPath = "/apis/coordination.k8s.io/v1"

func (c *sv20) Finish(*World) {}

func (c *sv20) Observations() []Observation {
	return []Observation{
		{"look-ups of identity Leases by a controller manager that failed", c.blind, needBlindLookups},
		{"StorageVersions with stale entries beside live ones that a look-up failed after", c.tempted, needTempted},
	}
}
