package discovery

import (
	"net/http"
	"reflect"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// The document of a server that knows its peers is the union of what it and they host
// (KEP-4020). All other endpoints of discovery tell of the server alone, and so does the
// local view. What the union has from peers is AD-23's and AD-24's; laws that compare the
// document with the other endpoints leave it out.

// Bounds of AD-23 and AD-24: so long the union may have what a process or a member hosted
// that is not there any more.
var (
	peersShow  = requirement.MustBound("AD-23", "peersShow")
	peersLeave = requirement.MustBound("AD-24", "peersLeave")
)

// localView is the answer in which the server tells of itself alone; nil if it gave none.
func (s *sweep) localView() *answer {
	said := s.answersTo(func(q *question) bool { return q.path == groupsPath && q.accept == askedLocal })
	if len(said) == 0 || said[len(said)-1].code != http.StatusOK || said[len(said)-1].listing == nil {
		return nil
	}
	return said[len(said)-1]
}

// united is whether the document of all groups says something else than the local view.
func (s *sweep) united(document *answer) bool {
	return s.local != nil && document.content != s.local.content
}

// byPeers is whether a document has a group-version, or other resources in it than the
// local view, because peers host that. It is unknown where it is not known what a peer
// hosts.
func (s *sweep) byPeers(document *answer, group string, v *history.ListedVersion) fact.Truth {
	if !s.united(document) {
		return fact.No
	}
	f, name := s.member.facts, named(group, v.Version)
	own := s.local.listing.version(group, v.Version)
	if own != nil && own.Inventory == v.Inventory {
		return fact.No
	}
	hosted := slices.Clone(f.library.resources(own))
	added, gaps := false, false
	for _, p := range s.peers() {
		theirs := f.views()[p]
		if theirs == nil {
			gaps = true
			continue
		}
		has, ok := theirs.local[name]
		added = added || ok && (own == nil || !reflect.DeepEqual(has, f.library.resources(own)))
		hosted = append(hosted, has...)
	}
	stray := slices.ContainsFunc(f.library.resources(v), func(r history.ListedResource) bool { return find(hosted, r.Name) == nil })
	switch {
	case added && !stray:
		return fact.Yes
	case gaps:
		return fact.Unknown
	}
	return fact.No
}

// peers are the processes of other members that a union may have something from: of a
// member that is there, or was so shortly before that it need not be forgotten.
func (s *sweep) peers() []*fact.Process {
	f := s.member.facts
	var out []*fact.Process
	for _, other := range f.all() {
		if other == s.member || other.left().Since(int64(peersLeave)).At(s.from) == fact.Yes {
			continue
		}
		last := f.LastProcess(other.name, history.ComponentAPIServer, s.to)
		for _, p := range f.Processes(other.name, history.ComponentAPIServer) {
			if p == last || p.Started.Earliest <= s.to && p.Exited != nil && p.Exited.Latest >= s.from-int64(peersShow) {
				out = append(out, p)
			}
		}
	}
	return out
}

// byPeersAt is byPeers of a group-version by its name.
func (s *sweep) byPeersAt(document *answer, group, version string) fact.Truth {
	if v := document.listing.version(group, version); v != nil {
		return s.byPeers(document, group, v)
	}
	return fact.No
}
