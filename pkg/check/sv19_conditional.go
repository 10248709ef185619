package check

import (
	"path"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv19: the collector's writes are conditional, so that an entry which is added at
// the same moment is never lost (KEP-2339, garbage collection: both the delete and
// the update are preconditioned with the revision that was read). It is put to the
// test where a fault holds such a write back, and a server that takes part puts its
// entry into the very object meanwhile: what was decided before must not happen.
type sv19 struct {
	findings
	losses
	deletes, updates int64
	// added are the latest entries that the harness added for its guests.
	added []addition
}

// addition is a report of a guest that was answered.
type addition struct {
	name     string
	from, at int64
	revision int64
}

// keptAdditions bounds how many are remembered: those that count are answered while
// a write is under way.
const keptAdditions = 64

func newSV19() *sv19 { return &sv19{losses: newLosses()} }

func (c *sv19) Observe(w *World, ev *history.Event) {
	for _, l := range c.losses.observe(w, ev) {
		if !w.raced(l) {
			continue // SV-20's
		}
		what := "a write to"
		if l.withObject {
			what = "the removal of"
		}
		w.blame(l, func() {
			c.infer(w, at(l.seq), "%s %s took the entry of %s away, which takes part and had come while that write was under way", what, l.name, l.id)
		})
	}
	if r := ev.Request; r != nil && r.Group == storageVersionGroup && r.Verb == "update" && r.Resource == "storageversions/status" && r.Class != history.ClassInvalid && accepted(r) {
		if len(c.added) >= keptAdditions {
			c.added = append(c.added[:0], c.added[1:]...)
		}
		c.added = append(c.added, addition{name: r.Name, from: ev.From, at: ev.At, revision: r.ResourceVersion})
	}
	if ev.Exchange != nil {
		c.exchange(w, ev)
	}
}

// exchange counts a write of the collector that was held back until somebody else
// had written.
func (c *sv19) exchange(w *World, ev *history.Event) {
	x := ev.Exchange
	if x.Component != history.ComponentControllerManager || !x.Sent || x.Held == 0 || x.Code != 409 && (x.Code < 200 || x.Code >= 300) {
		return
	}
	name := strings.TrimSuffix(x.Path, "/status")
	if !strings.HasPrefix(name, storageVersionsPath) {
		return
	}
	name = path.Base(name)
	for _, a := range c.added {
		if a.name != name || a.from <= ev.From || a.at >= ev.From+x.Held {
			continue
		}
		deletes := x.Method == "DELETE"
		w.when(a.revision, func() {
			if !w.guestCame(name, a.revision) {
				return
			}
			if deletes {
				c.deletes++
			} else {
				c.updates++
			}
		})
		return
	}
}

// storageVersionsPath is where API servers have StorageVersions.
const storageVersionsPath = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/"

// guestCame is whether a server that took part got its entry in an object by the
// write that made a revision.
func (w *World) guestCame(name string, revision int64) bool {
	v := w.versions[name]
	if v == nil {
		return false
	}
	for id, h := range v.entries {
		for _, change := range h.changes {
			if change.revision == revision && change.present && w.participates(id, revision) {
				return true
			}
		}
	}
	return false
}

func (c *sv19) Finish(*World) {}

func (c *sv19) Observations() []Observation {
	return []Observation{
		{What: "removals by a collector that were held back until a participant had put its entry in", Seen: c.deletes, Need: needRaces},
		{What: "updates by a collector that were held back until a participant had put its entry in", Seen: c.updates, Need: needRaces},
	}
}
