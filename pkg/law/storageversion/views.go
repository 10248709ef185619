package storageversion

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

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

// groupsPath is where the document of all groups is, and localProfile what a client adds to
// the Accept header to have a server tell of itself alone (KEP-4020).
const (
	groupsPath   = "/apis"
	localProfile = ";profile=nopeer"
)

// locals are the local views of aggregated discovery.
type locals struct {
	// contents are the group-versions in each document that was told, by its content.
	contents map[string]map[string]bool
	views    []localView
}

type localView struct {
	fact.Stamp
	member, content string
}

func (s *locals) observe(ev *history.Event) {
	d := ev.DiscoveryDocument
	if d.Path != groupsPath {
		return
	}
	if d.Listing != nil && s.contents[d.Content] == nil {
		versions := map[string]bool{}
		for _, g := range d.Listing.Groups {
			for _, v := range g.Versions {
				versions[g.Name+"/"+v.Version] = true
			}
		}
		s.contents[d.Content] = versions
	}
	if d.Code == 200 && strings.HasSuffix(d.Accept, localProfile) {
		s.views = append(s.views, localView{fact.StampOf(ev), ev.Member, d.Content})
	}
}

// own are the versions of a resource that a server does not list, and that it answers for
// itself. A server that knows its peers hands requests for what only they host on to them
// (KEP-4020): then none of its local views has the version, and another member lists it.
func (s *server) own(r history.HostedResource) []string {
	return slices.DeleteFunc(slices.Clone(r.Unlisted), func(version string) bool {
		return s.viewed(version) == fact.No && s.f.anyLook(func(look *fact.Look) bool {
			theirs, ok := look.Find(fact.Resource{Group: r.Group, Resource: r.Resource})
			return ok && look.Member != s.Member && slices.Contains(theirs.Served, version)
		})
	})
}

// viewed is whether a local view of a process has a group-version; unknown if it gave none.
func (s *server) viewed(version string) fact.Truth {
	found := fact.Unknown
	for _, v := range s.f.locals.views {
		versions := s.f.locals.contents[v.content]
		if v.member != s.Member || versions == nil || s.f.servers().at(s.f, v.member, v.Stamp) != s {
			continue
		}
		if versions[version] {
			return fact.Yes
		}
		found = fact.No
	}
	return found
}
