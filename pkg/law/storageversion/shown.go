package storageversion

import "github.com/evenkeel/evenkeel/pkg/history"

// shown is what members show clients of StorageVersions, from the recorder's watches, in the
// order of time.
type shown map[string][]showing

// showing is one event of a watch: the object that is shown, with the version that it calls
// agreed, or that it was deleted; or with no name that the watch began or broke.
type showing struct {
	seq    int64
	name   string
	common *string
	gone   bool
}

func (s shown) observe(ev *history.Event) {
	w := ev.Watch
	if w.Resource != "storageversions" {
		return
	}
	one := showing{seq: ev.Seq, name: w.Name, gone: w.Type == "DELETED" || w.Type == history.WatchBroken}
	switch {
	case w.Type == history.WatchBroken || w.Type == history.WatchOpened:
		one.name = ""
	case w.StorageVersion != nil:
		one.common = w.StorageVersion.Common
	case !one.gone:
		return
	}
	s[ev.Member] = append(s[ev.Member], one)
}

// view is what clients of a member saw of an object.
type view struct {
	seq    int64
	common *string
	gone   bool
}

// see is what clients of a member saw of an object before an event; false without a watch. A
// watch begins with a list of all that there is.
func (s shown) see(member, name string, before int64) (view, bool) {
	var now view
	open := false
	for _, one := range s[member] {
		switch {
		case one.seq >= before:
			return now, open
		case one.name == "":
			now, open = view{seq: one.seq, gone: true}, !one.gone
		case one.name == name && open:
			now = view{one.seq, one.common, one.gone}
		}
	}
	return now, open
}
