package check

import (
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// storageVersion is one StorageVersion object as etcd has it.
type storageVersion struct {
	name string
	// seq and revision of the latest change; deleted if the object is gone.
	seq, revision int64
	at            int64
	deleted       bool
	// made is the revision that made the object as it is there now.
	made int64
	now  *history.StorageVersion
	// entries is what each server has reported over time.
	entries map[string]*entryHistory
	// tampered is whether the harness has changed the object itself, last at
	// tamperedAt.
	tampered   bool
	tamperedAt int64
}

// entryHistory is one server's entry in one StorageVersion, oldest change
// first; cut if older changes are forgotten.
type entryHistory struct {
	changes []entryChange
	cut     bool
}

// entryChange is a change of one server's entry in one StorageVersion.
type entryChange struct {
	seq, at, revision int64
	present           bool
	// withObject is whether the entry went because the whole object did.
	withObject bool
	entry      history.Entry
}

const (
	// keptChanges is how many changes of one entry are remembered. Questions
	// are asked about the life of the running process and of the one before.
	keptChanges = 32
	// keptStrangers is how many servers that are no members are remembered in
	// one object after their entries have gone.
	keptStrangers = 32
	// keptDeleted is how many deleted objects are remembered.
	keptDeleted = 256
)

func (w *World) changeStorageVersion(name string, ev *history.Event) {
	_, content, _ := changedStorageVersion(ev)
	v := w.versions[name]
	if v == nil {
		v = &storageVersion{name: name, entries: map[string]*entryHistory{}}
		w.versions[name] = v
	}
	if v.now == nil || v.deleted {
		v.made = ev.Stored.Revision
	}
	v.seq, v.at, v.revision = ev.Seq, ev.At, ev.Stored.Revision
	v.deleted = content == nil
	if v.deleted {
		content = &history.StorageVersion{}
		w.bury(name)
	}
	v.now = content
	base := entryChange{seq: ev.Seq, at: ev.At, revision: ev.Stored.Revision}
	for id, h := range v.entries {
		if h.last().present && indexOf(content.Entries, id) < 0 {
			c := base
			c.withObject = v.deleted
			h.add(c)
		}
	}
	for i, e := range content.Entries {
		if indexOf(content.Entries, e.ServerID) != i {
			continue // the second one of a server, which SV-03 reports
		}
		h := v.entries[e.ServerID]
		if h == nil {
			w.forgetStrangers(v)
			h = &entryHistory{}
			v.entries[e.ServerID] = h
		}
		if last := h.last(); last.present && sameEntry(last.entry, e) {
			continue
		}
		c := base
		c.present, c.entry = true, e
		h.add(c)
	}
}

func (h *entryHistory) add(c entryChange) {
	if len(h.changes) >= keptChanges {
		h.changes = append(h.changes[:0], h.changes[1:]...)
		h.cut = true
	}
	h.changes = append(h.changes, c)
}

func (h *entryHistory) last() entryChange {
	if len(h.changes) == 0 {
		return entryChange{}
	}
	return h.changes[len(h.changes)-1]
}

// forgetStrangers drops what is known of entries of servers that are no
// members and have none any more: who changes its name with each restart
// would else fill the memory.
func (w *World) forgetStrangers(v *storageVersion) {
	if len(v.entries) < len(w.order)+keptStrangers {
		return
	}
	maps.DeleteFunc(v.entries, func(id string, h *entryHistory) bool {
		return w.memberOf[id] == "" && !h.last().present
	})
}

// bury remembers a deleted object, but not too many of them.
func (w *World) bury(name string) {
	w.gone = append(w.gone, name)
	if len(w.gone) <= keptDeleted {
		return
	}
	oldest := w.gone[0]
	w.gone = append(w.gone[:0], w.gone[1:]...)
	if v := w.versions[oldest]; v != nil && v.deleted && !slices.Contains(w.gone, oldest) {
		delete(w.versions, oldest)
	}
}
