package check

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// losses finds the entries that are taken away from servers which take part, by a
// write that is not the server's own: a collector's, as far as can be seen.
type losses struct {
	last map[string]reported
}

// loss is an entry that went.
type loss struct {
	name, id string
	// since is when it had come, and at when it went.
	came, at      int64
	seq, revision int64
	// withObject is whether all of the object went.
	withObject bool
}

func newLosses() losses { return losses{last: map[string]reported{}} }

// observe gives what an event took away.
func (l *losses) observe(w *World, ev *history.Event) []loss {
	name, now, ok := changedStorageVersion(ev)
	if !ok {
		return nil
	}
	before, known := l.last[name]
	delete(l.last, name)
	var entries []history.Entry
	if now != nil {
		entries = now.Entries
		l.last[name] = reported{ev.Stored.Revision, now}
	}
	if !known || now == nil && w.removals.covers(name, ev.At) {
		return nil
	}
	for _, e := range entries {
		if i := indexOf(before.content.Entries, e.ServerID); i < 0 || !sameEntry(before.content.Entries[i], e) {
			return nil // a server's report, whose losses are SV-09's
		}
	}
	var out []loss
	for _, e := range before.content.Entries {
		if indexOf(entries, e.ServerID) >= 0 || !w.participatedThrough(e.ServerID, before.revision, ev.Stored.Revision) || w.ownDoing(e.ServerID, name) {
			continue
		}
		out = append(out, loss{name: name, id: e.ServerID, came: w.cameAt(name, e.ServerID), at: ev.At, seq: ev.Seq, revision: ev.Stored.Revision, withObject: now == nil})
	}
	return out
}

// ownDoing is whether a server may have taken its entry out itself: because it does
// not host the resource, or because it is starting, which is what SV-21 is about.
// Who is no member does neither: it is a guest of the harness.
func (w *World) ownDoing(id, name string) bool {
	srv := w.servers[w.memberOf[id]]
	if srv == nil {
		return false
	}
	in := srv.current()
	starting := in != nil && !in.first && in.exitedAt == 0 && in.ready == nil
	return starting || srv.hostedBy != nil && !hosts(srv.hosted, name) && !(w.customName(name) && listsCustom(srv.hosted, name))
}

// listsCustom is whether a list has a custom resource with that StorageVersion. A server
// goes on with what it has said of it for as long as the definition is there, which is
// known of those that the harness has defined.
func listsCustom(list []history.HostedResource, name string) bool {
	return slices.ContainsFunc(list, func(r history.HostedResource) bool {
		return r.Custom && r.Persisted && objectName(r.Group, r.Resource) == name
	})
}

// cameAt is when the entry that a server had in an object until now had come.
func (w *World) cameAt(name, id string) int64 {
	v := w.versions[name]
	if v == nil || v.entries[id] == nil {
		return 0
	}
	came := int64(0)
	there := false
	for _, c := range v.entries[id].changes {
		if c.present && !there {
			came = c.at
		}
		there = c.present
	}
	return came
}

// holding is whether a fault holds back the writes of a controller manager, or did
// so until a moment ago: what is lost then may have been added while a write of the
// collector was under way.
func (w *World) holding(now int64) bool {
	for _, f := range w.faults {
		if f.Type == history.FaultHTTP && f.Action == history.FaultHTTPDelay && f.Component == history.ComponentControllerManager &&
			(!f.Healed || time.Duration(now-f.healedAt) <= recorderLag) {
			return true
		}
	}
	return false
}

// blame has a loss reported, unless the harness turns out to have asked for it, or to
// have taken the custom resource away, so that servers take back what they have said.
func (w *World) blame(l loss, report func()) {
	if l.withObject || w.customName(l.name) {
		w.unlessAsked(l.name, l.at, report)
		return
	}
	w.unlessEdited(l.name, l.revision, l.at, report)
}

// customName is whether a StorageVersion is of a resource that the harness has defined.
func (w *World) customName(name string) bool {
	for gr := range w.custom {
		if objectName(gr.group, gr.resource) == name {
			return true
		}
	}
	return false
}

// raced is whether the lost entry was so young, while writes were held back, that
// the collector cannot have seen it when it decided.
func (w *World) raced(l loss) bool {
	return w.holding(l.at) && time.Duration(l.at-l.came) <= addedMeanwhile
}
