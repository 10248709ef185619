package check

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv20: the collector never strips the entry of a server that lives, whatever its
// look-ups return (KEP-2339, garbage collection: what is removed are stale
// entries, and a server that takes part has none). It was put to the test only if
// look-ups of identity Leases failed after objects had changed that gave the
// collector something to do, a stale entry beside those of participants; and if it
// was at work, which shows when it takes the stale entry out later, and the others with
// it or not.
type sv20 struct {
	findings
	losses
	blind, tempted int64
	// tempting are the objects that it has something to do with.
	tempting map[string]*temptation
}

// temptation is an object with stale entries beside others.
type temptation struct {
	// at is when it changed last.
	at int64
	// stale are the servers of its stale entries, each with whether a look-up has
	// failed since the entry was there.
	stale map[string]bool
}

func newSV20() *sv20 { return &sv20{losses: newLosses(), tempting: map[string]*temptation{}} }

func (c *sv20) Observe(w *World, ev *history.Event) {
	name, now, changed := changedStorageVersion(ev)
	before := c.losses.last[name].content
	stripped := false
	for _, l := range c.losses.observe(w, ev) {
		if w.raced(l) {
			continue // SV-19's
		}
		stripped = true
		what := "lost the entry of"
		if l.withObject {
			what = "was removed with the entry of"
		}
		w.blame(l, func() { c.infer(w, at(l.seq), "%s %s %s, which takes part", l.name, what, l.id) })
	}
	if changed {
		c.changed(w, ev, name, before, now, stripped)
	}
	if x := ev.Exchange; x != nil && x.Component == history.ComponentControllerManager && ev.Member == w.managers.leader && failedLookup(x) {
		c.blind++
		for _, t := range c.tempting {
			for id := range t.stale {
				t.stale[id] = t.stale[id] || ev.From > t.at
			}
		}
	}
}

// changed looks at what became of an object; stripped is whether a server that takes
// part has lost its entry to a collector.
func (c *sv20) changed(w *World, ev *history.Event, name string, before, now *history.StorageVersion, stripped bool) {
	t := c.tempting[name]
	delete(c.tempting, name)
	if t == nil {
		t = &temptation{}
	}
	asked := now == nil && w.removals.covers(name, ev.At)
	if now == nil {
		now = &history.StorageVersion{}
	}
	if stripped && w.goes(t, before, now) || !asked && w.cleaned(t, before, now) && !w.startsAt(ev.Stored.Revision) {
		c.tempted++
	}
	if stale := w.temptsCollector(now); len(stale) > 0 {
		next := &temptation{at: ev.At, stale: map[string]bool{}}
		for _, id := range stale {
			next.stale[id] = t.stale[id]
		}
		c.tempting[name] = next
	}
}

// goes is whether a stale entry of an object goes that was there when a look-up failed.
func (w *World) goes(t *temptation, before, now *history.StorageVersion) bool {
	return before != nil && slices.ContainsFunc(before.Entries, func(e history.Entry) bool {
		return t.stale[e.ServerID] && !w.takesPart(e.ServerID) && indexOf(now.Entries, e.ServerID) < 0
	})
}

// cleaned is whether a change is the work of a collector whose look-ups had failed: it
// takes stale entries out, and nothing else.
func (w *World) cleaned(t *temptation, before, now *history.StorageVersion) bool {
	if !w.goes(t, before, now) || w.managers.running[w.managers.leader] == 0 || w.managers.paused[w.managers.leader] {
		return false
	}
	for _, e := range now.Entries {
		if i := indexOf(before.Entries, e.ServerID); i < 0 || !sameEntry(before.Entries[i], e) {
			return false
		}
	}
	return !slices.ContainsFunc(before.Entries, func(e history.Entry) bool {
		return w.takesPart(e.ServerID) && indexOf(now.Entries, e.ServerID) < 0
	})
}

// startsAt is whether an API server was starting when a revision was made, as far as
// anybody can say: it takes stale entries out, too.
func (w *World) startsAt(revision int64) bool {
	return slices.ContainsFunc(w.running(), func(in *instance) bool {
		over := in.exitedAt > 0 && time.Duration(w.Now-in.exitedAt) > w.aways.lag(in.exitedAt, w.Now)
		return !over && revision > in.startRevision && (in.servedBy() == 0 || revision <= in.servedBy())
	})
}

// servedBy is a revision at which a process was there for everybody, 0 where none is
// known.
func (in *instance) servedBy() int64 {
	switch {
	case in.ready != nil && in.ready.revision > 0:
		return in.ready.revision
	case in.discovered != nil:
		return in.discovered.Revision
	}
	return 0
}

// temptsCollector gives the servers whose entries an object has that are to be
// removed, if it has others beside them that must stay.
func (w *World) temptsCollector(sv *history.StorageVersion) []string {
	var stale []string
	for _, e := range sv.Entries {
		if !w.takesPart(e.ServerID) {
			stale = append(stale, e.ServerID)
		}
	}
	if len(stale) == len(sv.Entries) {
		return nil
	}
	return stale
}

// failedLookup is whether a controller manager asked for identity Leases and got no
// answer, or one that tells of a failure. A missing Lease is no failure. Other
// controllers list and watch the Leases of all namespaces, and all of them watch.
func failedLookup(x *history.Exchange) bool {
	if x.Method != "GET" || x.Watch || x.Code != 0 && x.Code < 400 || x.Code == 404 {
		return false
	}
	name, one := strings.CutPrefix(x.Path, leasesPath+"/")
	return x.Path == leasesPath || one && identityLeasePrefix+name != leaderLease
}

// leasesPath is where API servers have the Leases among which identity Leases are.
const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"

func (c *sv20) Finish(*World) {}

func (c *sv20) Observations() []Observation {
	return []Observation{
		{What: "look-ups of identity Leases by a controller manager that failed", Seen: c.blind, Need: needBlindLookups},
		{What: "StorageVersions with stale entries beside live ones that a look-up failed after, and whose stale entries went later", Seen: c.tempted, Need: needTempted},
	}
}
