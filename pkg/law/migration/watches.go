package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// watches are the events of the watches of migrations, by member, in order.
type watches map[string][]shownEvent

// shownEvent is one event of a watch through a member.
type shownEvent struct {
	fact.Stamp
	kind, name string
	revision   int64
	code       int
	message    string
}

func (f *Facts) observeWatch(ev *history.Event) {
	if w := ev.Watch; w.Resource == watchedMigrations {
		f.watches[ev.Member] = append(f.watches[ev.Member], shownEvent{fact.StampOf(ev), w.Type, w.Name, w.ResourceVersion, w.Code, w.Message})
	}
}

// view is what clients of a member have been shown of migrations.
type view struct {
	// open is whether the watch is open; broken is how it broke last.
	open   bool
	broken *shownEvent
	// byName is the revision of each migration that is shown.
	byName map[string]int64
}

// viewAt is that of a member at an event.
func (f *Facts) viewAt(member string, seq int64) view {
	v := view{}
	for i := range f.watches[member] {
		e := &f.watches[member][i]
		switch {
		case e.Seq > seq:
			return v
		case e.kind == history.WatchBroken:
			v.open, v.broken = false, e
		case e.kind == history.WatchOpened:
			v.open, v.byName = true, map[string]int64{}
		case !v.open:
		case e.kind == "DELETED":
			delete(v.byName, e.name)
		default:
			v.byName[e.name] = e.revision
		}
	}
	return v
}

// leftover is a migration as etcd has it at an event.
type leftover struct {
	*Migration
	last fact.Stamp
	gone bool
}

// leftoversAt are the migrations that there were until an event, the last one of each name.
func (f *Facts) leftoversAt(seq int64) map[string]leftover {
	out := map[string]leftover{}
	for _, m := range f.Migrations {
		if m.Reports[0].Seq > seq {
			continue
		}
		one := leftover{Migration: m}
		for _, r := range m.Reports {
			if r.Seq <= seq {
				one.last = r.Stamp
			}
		}
		if was(m.Gone) && m.Gone.Seq <= seq {
			one.last, one.gone = m.Gone, true
		}
		out[m.Name] = one
	}
	return out
}

// changesShown counts the changes that a member's watch showed while members had different
// releases.
func (f *Facts) changesShown(member string) int64 {
	n, opened := int64(0), int64(0)
	for _, e := range f.watches[member] {
		switch {
		case e.kind == history.WatchOpened:
			opened = e.revision
		case e.kind != history.WatchBroken && e.revision > opened && f.releasesAt(e.At) > 1:
			n++
		}
	}
	return n
}

// releasesAt is how many releases the members' API servers were started at last.
func (f *Facts) releasesAt(at int64) int {
	releases := map[string]bool{}
	for _, member := range f.Members() {
		if p := f.LastProcess(member, history.ComponentAPIServer, at); p != nil {
			releases[p.Release] = true
		}
	}
	return len(releases)
}
