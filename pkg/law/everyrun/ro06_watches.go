package everyrun

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// watch is a watch of all objects of a resource through a member, as its client saw it: the list
// that it began with, and what it told of.
type watch struct {
	watched
	// known is a revision that etcd had when the list was asked for.
	known int64
	told  []watched
	// over is whether the watch broke.
	over bool
}

// watches are those of StorageVersions and of migrations, in the order in which they began.
func (f *Facts) watches() []*watch {
	type of struct{ member, resource string }
	var out []*watch
	open, broke, showed := map[of]*watch{}, map[of]int64{}, map[of]int64{}
	for _, w := range f.watched {
		id := of{w.member, w.Resource}
		switch now := open[id]; {
		case w.Type == history.WatchOpened:
			open[id] = &watch{watched: w, known: max(showed[id], f.RevisionBy(broke[id]))}
			out = append(out, open[id])
		case w.Type == history.WatchBroken:
			broke[id] = w.At
			if now != nil {
				now.over = true
				delete(open, id)
			}
		case now != nil:
			now.told = append(now.told, w)
		}
		showed[id] = max(showed[id], w.ResourceVersion)
	}
	return out
}

// leavesNothingOut is whether the list was as new as it had to be and held what etcd did at its
// revision, and whether the watch told of each change after it, once and in the order of revisions
// (API concepts, "Efficient detection of changes"). Kubernetes lost changes where a watch began
// while a cache was filled anew (kubernetes issue 116122) and where its etcd dropped them (123072),
// and told of them twice (73845). A later change of the object hides that from a client that asks
// what there is. What a watch told of has no gap, whatever disturbs the member.
func (w *watch) leavesNothingOut(law.Bounds) law.Entry {
	e := w.entry("watch of " + w.Resource)
	listed := w.list()
	switch lacks := w.lacks(listed); {
	case w.ResourceVersion == 0:
		return e.Unclear("%s answered a list of %s without a revision", w.member, w.Resource)
	case w.ResourceVersion < w.known:
		e = e.Broken("%s answered a list of %s with revision %d, and etcd had had revision %d before", w.member, w.Resource, w.ResourceVersion, w.known).Shown(w.Seq)
	case lacks != nil:
		e = e.Broken("%s answered a list of %s with revision %d, and not with what revision %d had made of %s", w.member, w.Resource, w.ResourceVersion, lacks.Revision, lacks.name()).
			Shown(lacks.Seq, w.Seq)
	default:
		e = w.follows(e, w.told[len(listed):])
	}
	return w.facts.sure(e)
}

// follows is whether what a watch told of after its list is all that changed.
func (w *watch) follows(e law.Entry, told []watched) law.Entry {
	through := w.watched
	for _, t := range told {
		if t.ResourceVersion <= through.ResourceVersion {
			return e.Broken("a watch of %s through %s told of revision %d when it had come to revision %d", w.Resource, w.member, t.ResourceVersion, through.ResourceVersion).
				Shown(through.Seq, t.Seq)
		}
		if skipped := w.facts.changed(w.Resource, through.ResourceVersion, t.ResourceVersion-1); len(skipped) > 0 {
			return e.Broken("a watch of %s through %s told of revision %d, and not of %s at revision %d before", w.Resource, w.member, t.ResourceVersion, skipped[0].name(), skipped[0].Revision).
				Shown(skipped[0].Seq, t.Seq)
		}
		through = t
	}
	if missed, _ := w.facts.Missed(fact.Etcd); missed > 0 {
		return e.Excused("the recorder of etcd may have missed what a watch left out")
	}
	return e.Met()
}

// list is the revision of each object that the watch began with.
func (w *watch) list() map[string]int64 {
	listed := map[string]int64{}
	for _, t := range w.told {
		if _, twice := listed[t.Name]; twice || t.Type != "ADDED" || t.ResourceVersion > w.ResourceVersion {
			break
		}
		listed[t.Name] = t.ResourceVersion
	}
	return listed
}

// lacks is a change in etcd that the list should have shown, as far as is known of both.
func (w *watch) lacks(listed map[string]int64) *stored {
	f := w.facts
	if missed, seq := f.Missed(fact.Etcd); missed > 0 && seq <= f.ToldBy(w.ResourceVersion) || f.LastTold() < w.ResourceVersion {
		return nil
	}
	if recorded := len(w.told) > len(listed) || w.over || f.End != nil; !recorded {
		return nil
	}
	last := map[string]*stored{}
	changes := f.changed(w.Resource, 0, w.ResourceVersion)
	for i := range changes {
		last[changes[i].name()] = &changes[i]
	}
	for _, name := range law.SortedKeys(last) {
		at, there := listed[name]
		if s := last[name]; at < s.Revision && (there || !s.gone) {
			return s
		}
	}
	return nil
}

// changed are the changes of a resource without namespaces after one revision, up to another one.
func (f *Facts) changed(resource string, after, until int64) []stored {
	type of struct{ resource string }
	all := fact.Cached(f.History, of{resource}, func() (out []stored) {
		for i := range f.stored {
			if s := &f.stored[i]; strings.HasSuffix(strings.TrimSuffix(s.key, s.name()), "/"+resource+"/") {
				out = append(out, *s)
			}
		}
		return out
	})
	revision := func(s stored) int64 { return s.Revision }
	return all[fact.Last(all, after, revision)+1 : fact.Last(all, max(after, until), revision)+1]
}

// name is that of the object, without its namespace.
func (s stored) name() string { return s.key[strings.LastIndex(s.key, "/")+1:] }
