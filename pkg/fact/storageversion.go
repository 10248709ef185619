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
	Name string
	Values[*history.StorageVersion]
	entries map[string]*Values[*history.Entry]
}

// VersionRevision is the object from a revision on.
type VersionRevision = Value[*history.StorageVersion]

// EntryChange is one server's entry in the object from the revision on that changed it.
type EntryChange = Value[*history.Entry]

func (h *History) observeStorageVersion(ev *history.Event) {
	name, ok := strings.CutPrefix(ev.Stored.Key, StorageVersionPrefix)
	if !ok {
		return
	}
	v := h.StorageVersion(name)
	h.versions[name] = v
	now := cmp.Or(ev.Stored.StorageVersion, &history.StorageVersion{})
	if ev.Stored.Type == history.StoredDelete {
		now = &history.StorageVersion{}
		v.Delete(StampOf(ev))
	} else {
		v.Set(StampOf(ev), now)
	}
	v.follow(StampOf(ev), now.Entries)
}

// follow notes what a revision changed of each server's entry.
func (v *StorageVersion) follow(at Stamp, entries []history.Entry) {
	for id, of := range v.entries {
		if EntryIn(entries, id) == nil {
			of.Delete(at)
		}
	}
	for i := range entries {
		e := &entries[i]
		of := v.entries[e.ServerID]
		if of == nil {
			of = &Values[*history.Entry]{}
			v.entries[e.ServerID] = of
		}
		if last := of.Last(); EntryIn(entries, e.ServerID) == e && (last == nil || !last.There || !SameEntry(*last.Is, *e)) {
			of.Set(at, e)
		}
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

// StorageVersion is the object of a name; one without revisions if there never was one.
func (h *History) StorageVersion(name string) *StorageVersion {
	if v := h.versions[name]; v != nil {
		return v
	}
	return &StorageVersion{Name: name, entries: map[string]*Values[*history.Entry]{}}
}

// StorageVersions are all that there ever were, in the order of their names.
func (h *History) StorageVersions() []*StorageVersion {
	return Each(slices.Sorted(maps.Keys(h.versions)), h.StorageVersion)
}

// Servers are the servers that ever had an entry, in order.
func (v *StorageVersion) Servers() []string { return slices.Sorted(maps.Keys(v.entries)) }

// Entry is a server's entry.
func (v *StorageVersion) Entry(server string) *Values[*history.Entry] {
	if of := v.entries[server]; of != nil {
		return of
	}
	return &Values[*history.Entry]{}
}

// EntryAt is a server's entry at a revision; nil if it had none.
func (v *StorageVersion) EntryAt(server string, revision int64) *history.Entry {
	if c := v.Entry(server).At(revision); c != nil {
		return c.Is
	}
	return nil
}
