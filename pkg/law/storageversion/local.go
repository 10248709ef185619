package storageversion

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

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
	d := ev.Document
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
		if s.contents == nil {
			s.contents = map[string]map[string]bool{}
		}
		s.contents[d.Content] = versions
	}
	if d.Code == 200 && strings.HasSuffix(d.Accept, localProfile) {
		s.views = append(s.views, localView{fact.StampOf(ev), ev.Member, d.Content})
	}
}

// own are the versions of a resource that a server does not list, and that it answers for
// itself. A server that knows its peers hands requests for what only they host on to them
// (KEP-4020): then none of its local views has the version, and a peer lists it.
func (f *facts) own(s *server, r history.HostedResource) []string {
	return slices.DeleteFunc(slices.Clone(r.Unlisted), func(version string) bool {
		return f.viewed(s, version) == fact.No && f.peerLists(s, r, version)
	})
}

// viewed is whether a local view of a process has a group-version; unknown if it gave none.
func (f *facts) viewed(s *server, version string) fact.Truth {
	found := fact.Unknown
	for _, v := range f.locals.views {
		versions := f.locals.contents[v.content]
		if v.member != s.Member || versions == nil || f.serverAt(v.member, f.When(v.Stamp)) != s {
			continue
		}
		if versions[version] {
			return fact.Yes
		}
		found = fact.No
	}
	return found
}

// peerLists is whether another member lists a version of a resource.
func (f *facts) peerLists(s *server, r history.HostedResource, version string) bool {
	return slices.ContainsFunc(f.Members(), func(member string) bool {
		return member != s.Member && slices.ContainsFunc(f.Looks(member), func(look *fact.Look) bool {
			theirs, ok := look.Find(fact.Resource{Group: r.Group, Resource: r.Resource})
			return ok && slices.Contains(theirs.Served, version)
		})
	})
}
