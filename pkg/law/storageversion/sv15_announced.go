package storageversion

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// sv15: no object is ever stored in a version that its writer had not announced (KEP-2339:
// the reason for the whole order). The stored bytes name the version, a tag names the member
// that the write went through, and the entry is the one in force at that very revision.
var sv15 = law.Written[*facts]{
	Row: law.Row{ID: "SV-15", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "writes", Tag: "write"}, {Name: "writesEach", Tag: "write", Each: true}, {Name: "versions", Tag: "version"},
	}},
	Judge: func(f *facts, l *law.Ledger, bounds law.Bounds) {
		f.doubtHosting(l, bounds)
		f.doubtTags(l)
		seen := map[fact.Resource]map[string]bool{}
		for _, w := range f.Writes() {
			r, ok := f.ResourceOfWrite(w)
			if !ok || f.serverID(w.Member) == "" || f.Hosted(r) == fact.HostedOtherwise {
				continue // custom resources are SV-24's
			}
			e := f.judgeAnnounced(w, r, bounds)
			if e.Ending == law.Met {
				e.Tags = f.countVersion(seen, r, w)
			}
			l.Add(e)
		}
	},
}

// countVersion tags a write, and the first one in each version of a resource after the
// first version.
func (f *facts) countVersion(seen map[fact.Resource]map[string]bool, r fact.Resource, w *fact.Write) []string {
	if seen[r] == nil {
		seen[r] = map[string]bool{w.APIVersion: true}
	}
	if !seen[r][w.APIVersion] {
		seen[r][w.APIVersion] = true
		return versionTags
	}
	return writeTag
}

var versionTags = []string{"write", "version"}

func (f *facts) judgeAnnounced(w *fact.Write, r fact.Resource, bounds law.Bounds) law.Entry {
	name, id := r.StorageVersionName(), f.serverID(w.Member)
	e := law.Entry{Ending: law.Met, About: name, Member: w.Member, Began: f.When(w.Stored), Evidence: []int64{w.Stored.Seq}}
	s := f.serverOf(w.Member, w.Stored.Revision)
	change := f.StorageVersion(name).ChangeAt(id, w.Stored.Revision)
	switch {
	case s.silent():
		e.Ending, e.Why = law.Excused, "the server has no StorageVersion API, and announces nothing"
	case s.hosts(name) == fact.No && (change == nil || !change.Present() || change.Revision <= s.since):
		e.Ending, e.Why = law.Excused, "the server does not host the resource, and hands writes on"
	case change != nil && change.Present() && change.Entry.Encoding == w.APIVersion:
	case f.Hosted(r) == fact.Unlisted:
		e.Ending, e.Why = law.Unclear, "an object was stored without an announcement, and no discovery listed the resource, so that it may be a custom one"
	case change != nil && change.Present():
		e.Ending = law.Broken
		e.Why = fmt.Sprintf("%s stored %s as %s at revision %d, when it had announced %s in %s", w.Member, w.Name, w.APIVersion, w.Stored.Revision, change.Entry.Encoding, name)
	default:
		if f.excuseWithdrawn(&e, w, s, change, bounds, fact.Never) {
			return e
		}
		e.Ending, e.Why = law.Broken, fmt.Sprintf("%s stored %s as %s at revision %d, when %s had no entry of it", w.Member, w.Name, w.APIVersion, w.Stored.Revision, name)
		if change != nil && change.WithObject {
			e.Why = fmt.Sprintf("%s stored %s as %s at revision %d, when %s had been removed with its entry of it", w.Member, w.Name, w.APIVersion, w.Stored.Revision, name)
		}
	}
	if change != nil {
		e.Evidence = law.Evidence(w.Stored.Seq, change.Seq)
	}
	return e
}

// excuseWithdrawn ends the obligation of a write that is right although the announcement of
// it was gone, or may be. A server that gave up its Lease finishes what it was asked for
// before; and what the harness removed is nothing to hold against it. Removals of custom
// resources before a time explain nothing.
func (f *facts) excuseWithdrawn(e *law.Entry, w *fact.Write, s *server, change *fact.EntryChange, bounds law.Bounds, since int64) bool {
	if s == nil || change == nil || !f.heldDuring(s, e.About, w.Stored.Revision, func(e *history.Entry) bool { return e.Encoding == w.APIVersion }) {
		return false
	}
	gone := f.When(change.Stamp)
	harness := f.harness.edited(e.About, change.Stamp)
	if change.WithObject {
		harness = f.harness.removedSince(e.About, gone, since)
	}
	bound := bounds.Of("finishesWithin")
	switch {
	case harness:
		bound, e.Why = bounds.Of("tamperRepaired"), "the harness had removed the announcement"
	case f.TakesPart(s.id, w.Stored.Revision):
		return false
	case w.Answer.Seq == 0:
		e.Why = "the server had left, and it is not known when the write was sent"
	case w.Answer.From < gone.Latest:
		e.Why = "the server had left, and finished what it had been asked for"
	default:
		return false
	}
	switch least, most := gone.Until(f.When(w.Stored)); {
	case least > bound:
		e.Why = ""
		return false
	case most > bound:
		e.Ending, e.Why = law.Unclear, sprintf("%s, if the write came within %s of that", e.Why, bound)
	default:
		e.Ending = law.Excused
	}
	return true
}

// finishes is whether a write may be the rest of what a server was asked for before it left,
// so that others rightly agree without it. SV-15 judges that.
func (f *facts) finishes(w *fact.Write, name string, within time.Duration) bool {
	id := f.serverID(w.Member)
	change := f.StorageVersion(name).ChangeAt(id, w.Stored.Revision)
	s := f.serverOf(w.Member, w.Stored.Revision)
	if s == nil || change == nil || change.Present() || f.TakesPart(id, w.Stored.Revision) {
		return false
	}
	least, _ := f.When(change.Stamp).Until(f.When(w.Stored))
	return least <= within && f.heldDuring(s, name, w.Stored.Revision, func(e *history.Entry) bool { return e.Encoding == w.APIVersion })
}
