package migration

import (
	"slices"
	"time"

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

// watchDelays judges each change of a migration that a member's watch showed. The clock runs
// while the watch is open and nothing hinders the member. What no watch showed is judged at
// the end of holds.
func (f *Facts) watchDelays(member string, bounds law.Bounds) []law.Entry {
	var out []law.Entry
	able, bound := fact.And(f.watching(member), f.Healthy(member), f.EtcdQuorum()), bounds.Of("showsWithin")
	for _, m := range f.Migrations {
		shown := fact.Where(f.watches[member], func(e shownEvent) bool {
			return e.Type == history.WatchOpened || e.Name == m.Name && e.Type != history.WatchBroken
		})
		for _, r := range m.Reports {
			i := slices.IndexFunc(shown, func(e shownEvent) bool { return e.ResourceVersion >= r.Revision })
			if i < 0 || shown[i].Type == history.WatchOpened {
				continue // A new watch lists what is there.
			}
			e, at := law.Of(m.Name, f.When(r.Stamp)).By(member), shown[i].at
			e.Least = time.Duration(able.Lasts(e.Began.Latest, at, fact.Yes))
			e.Most = time.Duration(able.Lasts(e.Began.Earliest, at, fact.Yes))
			switch {
			case e.Least > bound:
				e = e.Late("a watch through %s showed revision %d of migration %s only after %v", member, r.Revision, m.Name, rounded(e.Least)).Shown(r.Seq, shown[i].seq)
				out = append(out, law.UnlessStarved(f.History, e, e.Least-bound, able, e.Began.Latest, at))
			case e.Most > bound:
				out = append(out, e.Unclear("a watch through %s showed revision %d of migration %s after between %v and %v", member, r.Revision, m.Name, rounded(e.Least), rounded(e.Most)))
			default:
				out = append(out, e.Met())
			}
		}
	}
	return out
}

// watching is while a member's watch of migrations is open.
func (f *Facts) watching(member string) fact.Signal {
	var b fact.Builder
	for _, e := range f.watches[member] {
		switch e.Type {
		case history.WatchOpened:
			b.SetAt(e.at, fact.Yes)
		case history.WatchBroken:
			b.SetAt(e.at, fact.No)
		}
	}
	return b.Signal()
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
