package migration

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// shownEvent is one event of a watch of migrations through a member.
type shownEvent struct {
	*history.Watch
	seq, at int64
}

// view is what clients of a member have been shown of migrations, by the revision of each:
// open is whether the watch is open, broken how it broke last.
type view struct {
	open   bool
	broken *shownEvent
	byName map[string]int64
}

// viewAt is that of a member at an event.
func (f *Facts) viewAt(member string, seq int64) view {
	v := view{}
	for _, e := range f.watches[member] {
		switch {
		case e.seq > seq:
			return v
		case e.Type == history.WatchBroken:
			v.open, v.broken = false, &e
		case e.Type == history.WatchOpened:
			v.open, v.byName = true, map[string]int64{}
		case !v.open:
		case e.Type == "DELETED":
			delete(v.byName, e.Name)
		default:
			v.byName[e.Name] = e.ResourceVersion
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

// leftovers are the migrations that there were until an event, the last one of each name.
func (f *Facts) leftovers(seq int64) []leftover {
	last := map[string]leftover{}
	for _, m := range f.Migrations {
		i := fact.Last(m.Reports, seq, func(r Report) int64 { return r.Seq })
		switch {
		case was(m.Gone) && m.Gone.Seq <= seq:
			last[m.Name] = leftover{m, m.Gone, true}
		case i >= 0:
			last[m.Name] = leftover{m, m.Reports[i].Stamp, false}
		}
	}
	return fact.Each(law.SortedKeys(last), func(name string) leftover { return last[name] })
}

// changesShown counts the changes that a member's watch showed while members had different
// releases.
func (f *Facts) changesShown(member string) int64 {
	n, opened := int64(0), int64(0)
	for _, e := range f.watches[member] {
		switch {
		case e.Type == history.WatchOpened:
			opened = e.ResourceVersion
		case e.Type != history.WatchBroken && e.ResourceVersion > opened && f.releasesAt(e.at) > 1:
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
