package storageversion

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// registration gives the change by which a process announced what it writes, up to a
// revision; nil where its server's entry was the same when it started: it may have found
// nothing to change, and what changed later is then the repair of what others did. The
// entry that counts is the one that stood in the end, so that what others wrote in
// between and the server put right is not taken for its word.
func (f *facts) registration(s *server, name string, until int64) *fact.EntryChange {
	v := f.StorageVersion(name)
	var stood *fact.EntryChange
	changes := v.Changes(s.id)
	for i := range changes {
		if changes[i].Revision <= until && changes[i].Present() {
			stood = &changes[i]
		}
	}
	if stood == nil || stood.Revision <= s.since {
		return nil
	}
	if before := v.EntryAt(s.id, s.since); before != nil && fact.SameEntry(*before, *stood.Entry) {
		return nil
	}
	for i, c := range changes {
		if c.Revision > s.since && c.Present() && fact.SameEntry(*c.Entry, *stood.Entry) {
			return &changes[i]
		}
	}
	return nil
}

// heldDuring is whether at some time in a process's life, up to a revision, its server had
// an entry in a StorageVersion that fits. What the process before it has left counts as
// its own only if the server took part meanwhile: the entry of a server that has departed
// is anybody's to remove, and announces nothing.
func (f *facts) heldDuring(s *server, name string, until int64, fits func(*history.Entry) bool) bool {
	v := f.StorageVersion(name)
	if e := v.EntryAt(s.id, s.since); e != nil && fits(e) && f.Participation(s.id).During(s.since, until) {
		return true
	}
	return slices.ContainsFunc(v.Changes(s.id), func(c fact.EntryChange) bool {
		return c.Revision > s.since && c.Revision <= until && c.Present() && fits(c.Entry)
	})
}

// anyEntry fits each entry.
func anyEntry(*history.Entry) bool { return true }

// announcedAny is whether a process announced a version in a StorageVersion, or may rely
// on what the process before it has left.
func (f *facts) announcedAny(s *server, name string, until int64) bool {
	v := f.StorageVersion(name)
	return v.ChangeAt(s.id, s.since) != nil || f.heldDuring(s, name, until, anyEntry)
}

// revision is a revision of a StorageVersion that is there, with the one before it.
type revision struct {
	*fact.VersionRevision
	version *fact.StorageVersion
	// before is nil where the object was made.
	before *fact.VersionRevision
}

// revisions are all revisions of all StorageVersions but their deletions.
func (f *facts) revisions() []revision {
	var out []revision
	for _, v := range f.StorageVersions() {
		for i := range v.Revisions {
			r := revision{VersionRevision: &v.Revisions[i], version: v}
			if r.Content == nil {
				continue
			}
			if i > 0 && v.Revisions[i-1].Content != nil {
				r.before = &v.Revisions[i-1]
			}
			out = append(out, r)
		}
	}
	return out
}

// changed are the servers whose entries a revision brought or changed.
func (r revision) changed() []string {
	if r.before == nil {
		return nil
	}
	var out []string
	for i := range r.Content.Entries {
		e := &r.Content.Entries[i]
		if fact.EntryIn(r.Content.Entries, e.ServerID) != e {
			continue // the second one of a server, which SV-03 reports
		}
		if old := fact.EntryIn(r.before.Content.Entries, e.ServerID); old == nil || !fact.SameEntry(*old, *e) {
			out = append(out, e.ServerID)
		}
	}
	return out
}

// memberOf is the member of a server; empty if it is of none.
func (f *facts) memberOf(id string) string { return f.MemberOfServer(id) }
