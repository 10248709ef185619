package fact

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// StorageVersionPrefix is where etcd has StorageVersions. The name of an object alone
// would not do: a ClusterRole may have the same.
const StorageVersionPrefix = "/registry/storageversions/"

// StorageVersion is one StorageVersion object over all its revisions.
type StorageVersion struct {
	Name      string
	Revisions []VersionRevision
	entries   map[string][]EntryChange
}

// VersionRevision is the object from a revision on.
type VersionRevision struct {
	Stamp
	// Content is nil where the object was deleted.
	Content *history.StorageVersion
	// Made is the revision that created the object.
	Made int64
}

// EntryChange is a change of one server's entry in one StorageVersion.
type EntryChange struct {
	Stamp
	// Entry is nil where it was taken out; WithObject is whether the whole object was.
	Entry      *history.Entry
	WithObject bool
}

// Present is whether the entry is there from the change on.
func (c EntryChange) Present() bool { return c.Entry != nil }

func (h *History) observeStorageVersion(ev *history.Event) {
	name, ok := strings.CutPrefix(ev.Stored.Key, StorageVersionPrefix)
	if !ok {
		return
	}
	v := h.versions[name]
	if v == nil {
		v = &StorageVersion{Name: name, entries: map[string][]EntryChange{}}
		h.versions[name] = v
	}
	now := VersionRevision{Stamp: StampOf(ev), Made: ev.Stored.Revision}
	if ev.Stored.Type != history.StoredDelete {
		now.Content = cmp.Or(ev.Stored.StorageVersion, &history.StorageVersion{})
	}
	if n := len(v.Revisions); n > 0 && v.Revisions[n-1].Content != nil {
		now.Made = v.Revisions[n-1].Made
	}
	v.Revisions = append(v.Revisions, now)
	v.follow(now)
}

// follow notes what a revision changed of each server's entry.
func (v *StorageVersion) follow(now VersionRevision) {
	var entries []history.Entry
	if now.Content != nil {
		entries = now.Content.Entries
	}
	for id, changes := range v.entries {
		if changes[len(changes)-1].Present() && EntryIn(entries, id) == nil {
			v.entries[id] = append(changes, EntryChange{Stamp: now.Stamp, WithObject: now.Content == nil})
		}
	}
	for i := range entries {
		e := &entries[i]
		changes := v.entries[e.ServerID]
		if n := len(changes); EntryIn(entries, e.ServerID) != e || n > 0 && changes[n-1].Present() && SameEntry(*changes[n-1].Entry, *e) {
			continue
		}
		v.entries[e.ServerID] = append(changes, EntryChange{Stamp: now.Stamp, Entry: e})
	}
}

// EntryIn is a server's first entry; nil if it has none.
func EntryIn(entries []history.Entry, server string) *history.Entry {
	if i := slices.IndexFunc(entries, func(e history.Entry) bool { return e.ServerID == server }); i >= 0 {
		return &entries[i]
	}
	return nil
}

// SameEntry is whether two entries say the same. The order of versions says nothing.
func SameEntry(a, b history.Entry) bool {
	return a.ServerID == b.ServerID && a.Encoding == b.Encoding && SameSet(a.Decodable, b.Decodable) && SameSet(a.Served, b.Served)
}

// SameSet compares without regard to order and repetition.
func SameSet(a, b []string) bool {
	in := func(all, some []string) bool {
		return !slices.ContainsFunc(some, func(x string) bool { return !slices.Contains(all, x) })
	}
	return in(a, b) && in(b, a)
}

// Agreed gives the one version that all entries encode to, if there is one.
func Agreed(entries []history.Entry) (string, bool) {
	if len(entries) == 0 || slices.ContainsFunc(entries, func(e history.Entry) bool { return e.Encoding != entries[0].Encoding }) {
		return "", false
	}
	return entries[0].Encoding, true
}

// StorageVersion is the object of a name; nil if there never was one.
func (h *History) StorageVersion(name string) *StorageVersion { return h.versions[name] }

// StorageVersions are all that there ever were, in the order of their names.
func (h *History) StorageVersions() []*StorageVersion {
	return Each(slices.Sorted(maps.Keys(h.versions)), h.StorageVersion)
}

// At is the object as it was at a revision; nil where it was not there.
func (v *StorageVersion) At(revision int64) *VersionRevision {
	if v == nil {
		return nil
	}
	i := Last(v.Revisions, revision, func(r VersionRevision) int64 { return r.Revision })
	if i < 0 || v.Revisions[i].Content == nil {
		return nil
	}
	return &v.Revisions[i]
}

// Servers are the servers that ever had an entry, in order.
func (v *StorageVersion) Servers() []string { return slices.Sorted(maps.Keys(v.entries)) }

// Changes are those of a server's entry.
func (v *StorageVersion) Changes(server string) []EntryChange {
	if v == nil {
		return nil
	}
	return v.entries[server]
}

// ChangeAt is the change of a server's entry that was in force at a revision; nil if it
// had none until then.
func (v *StorageVersion) ChangeAt(server string, revision int64) *EntryChange {
	changes := v.Changes(server)
	if i := Last(changes, revision, func(c EntryChange) int64 { return c.Revision }); i >= 0 {
		return &changes[i]
	}
	return nil
}

// EntryAt is a server's entry at a revision; nil if it had none.
func (v *StorageVersion) EntryAt(server string, revision int64) *history.Entry {
	if c := v.ChangeAt(server, revision); c != nil {
		return c.Entry
	}
	return nil
}
