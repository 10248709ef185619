package storageversion

import "github.com/evenkeel/evenkeel/pkg/history"

// showing is one event of the recorder's watch at a member: a StorageVersion as clients are
// shown it, with the version that it calls agreed, or that it was deleted; or with no name
// that the watch began or broke.
type showing struct {
	seq    int64
	name   string
	common *string
	gone   bool
}

func (f *facts) observeShown(ev *history.Event) {
	w := ev.Watch
	one := showing{seq: ev.Seq, name: w.Name, gone: w.Type == "DELETED" || w.Type == history.WatchBroken}
	switch {
	case w.Resource != storageVersionResource:
		return
	case w.Type == history.WatchBroken || w.Type == history.WatchOpened:
		one.name = ""
	case w.StorageVersion != nil:
		one.common = w.StorageVersion.Common
	case !one.gone:
		return
	}
	f.shown[ev.Member] = append(f.shown[ev.Member], one)
}

// see is what clients of a member saw of an object before an event; false without a watch. A
// watch begins with a list of all that there is.
func (f *facts) see(member, name string, before int64) (now showing, open bool) {
	for _, one := range f.shown[member] {
		switch {
		case one.seq >= before:
			return now, open
		case one.name == "":
			now, open = showing{seq: one.seq, gone: true}, !one.gone
		case one.name == name && open:
			now = one
		}
	}
	return now, open
}
