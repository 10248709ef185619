package storageversion

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// loss is an entry that was taken away from a server which takes part, by a write that is
// not the server's own: a collector's, as far as can be seen.
type loss struct {
	v  *fact.StorageVersion
	id string
	fact.Stamp
	// came is when the entry had come; withObject is whether all of the object went.
	came       fact.Stamp
	withObject bool
	// before is the object as it was.
	before *fact.VersionRevision
}

// losses are those that the harness did not ask for.
func (f *facts) losses() []loss {
	var out []loss
	for _, v := range f.StorageVersions() {
		for i := 1; i < len(v.Revisions); i++ {
			before, now := &v.Revisions[i-1], &v.Revisions[i]
			if before.Content == nil || !onlyTakes(before, now) {
				continue // a server's report, whose losses are SV-09's
			}
			for _, e := range before.Content.Entries {
				x := loss{v, e.ServerID, now.Stamp, f.cameAt(v, e.ServerID, now.Revision), now.Content == nil, before}
				if !hasEntry(now, e.ServerID) && f.Participation(e.ServerID).Through(before.Revision, now.Revision) && !f.ownDoing(x) && !f.askedFor(x) {
					out = append(out, x)
				}
			}
		}
	}
	return out
}

func hasEntry(r *fact.VersionRevision, id string) bool {
	return r.Content != nil && fact.EntryIn(r.Content.Entries, id) != nil
}

// onlyTakes is whether a revision brings and changes no entry.
func onlyTakes(before, now *fact.VersionRevision) bool {
	if now.Content == nil {
		return true
	}
	for _, e := range now.Content.Entries {
		if old := fact.EntryIn(before.Content.Entries, e.ServerID); old == nil || !fact.SameEntry(*old, e) {
			return false
		}
	}
	return true
}

// cameAt is when the entry came that a server had until a revision.
func (f *facts) cameAt(v *fact.StorageVersion, id string, until int64) (came fact.Stamp) {
	there := false
	for _, c := range v.Changes(id) {
		if c.Revision >= until {
			break
		}
		if c.Present() && !there {
			came = c.Stamp
		}
		there = c.Present()
	}
	return came
}

// ownDoing is whether a server may have taken its entry out itself: because it does not host
// the resource, or because it is starting, which is what SV-21 is about. A server that is no
// member does neither: the harness plays it.
func (f *facts) ownDoing(x loss) bool {
	member := f.memberOf(x.id)
	s := f.serverOf(member, x.Revision)
	if s == nil {
		return false
	}
	at := f.When(x.Stamp)
	starting := s.Before != nil && s.Alive().At(at.Latest) != fact.No && (s.ready == nil || x.Revision <= s.revision || s.ready.Latest > at.Latest)
	look := s.lookBy(x.At)
	if look == nil && len(s.looks) > 0 {
		look = s.looks[0]
	}
	// A server goes on with what it has said of a custom resource for as long as the definition
	// exists, which is known of those that the harness has defined.
	custom := f.DefinedName(x.v.Name) && look != nil && look.Lists(x.v.Name)
	return starting || look != nil && !look.Hosts(x.v.Name) && !custom
}

// askedFor is whether the harness asked for it, or took the custom resource away, so that
// servers take back what they have said. The harness also edits the StorageVersions of
// custom resources: it takes the entry of a server out before that server starts again.
func (f *facts) askedFor(x loss) bool {
	if !x.withObject && f.harness.edited(x.v.Name, x.Stamp) {
		return true
	}
	return (x.withObject || f.DefinedName(x.v.Name)) && f.harness.removed(x.v.Name, f.When(x.Stamp))
}

// held is while a fault holds back the writes of controller managers, or did so until a
// moment ago: what is lost then may have been added while a write of the collector was under
// way.
func (f *facts) held() fact.Signal {
	return f.FaultActive(func(x *fact.Fault) bool {
		return x.Type == history.FaultHTTP && x.Action == history.FaultHTTPDelay && x.Component == history.ComponentControllerManager
	})
}

// raced is whether a lost entry was so young, while writes were held back, that the collector
// cannot have seen it when it decided.
func (f *facts) raced(x loss, underWay time.Duration) bool {
	at, came := f.When(x.Stamp), f.When(x.came)
	_, most := came.Until(at)
	return most <= underWay && f.held().Lasts(at.Earliest-int64(underWay), at.Latest+1, fact.Unknown) > 0
}
