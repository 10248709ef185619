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

// views are the last thorough looks at each process in which it told of itself alone.
func (f *Facts) views() map[*fact.Process]*sweep {
	type key struct{}
	return fact.Cached(f.History, key{}, func() map[*fact.Process]*sweep {
		out := map[*fact.Process]*sweep{}
		for _, s := range f.ready() {
			if s.local != nil && s.plain[groupsPath] != nil {
				out[s.by] = s
			}
		}
		return out
	})
}

// viewAt is that of the process that the member runs at a time; nil if it is not known.
func (m *member) viewAt(at int64) *sweep {
	return m.facts.views()[m.facts.LastProcess(m.name, history.ComponentAPIServer, at)]
}

// hosts is whether a process hosts a resource of a group-version itself, by its local view
// and the document of the group-version, which tells of no other server. It is not known of
// what was asked for in vain.
func (s *sweep) hosts(of groupVersion, resource string) fact.Truth {
	a := s.endpoints[of]
	switch {
	case a == nil && s.local.listing.version(of) == nil, a != nil && a.Code == http.StatusNotFound:
		return fact.No
	case a == nil || a.told().version(of) == nil:
		return fact.Unknown
	}
	return fact.Of(a.listing.hosts(of, resource))
}

// alone are the group-versions of the local view, without those that are no member's own:
// custom resources and aggregated servers are in etcd for all.
func (s *sweep) alone() []groupVersion {
	return fact.Where(s.local.listing.names, func(of groupVersion) bool {
		return of.group != "" && len(s.member.facts.definitionsOf(of.group)) == 0 && !s.member.isForeign(of, s.from)
	})
}

// byPeers is whether a document has a group-version, or other resources in it than the
// local view, because peers host that. It is unknown where it is not known what a peer
// hosts. The core group is each server's own.
func (s *sweep) byPeers(document *answer, of groupVersion) fact.Truth {
	v := document.listing.version(of)
	if s.local == nil || v == nil || of.group == "" || document.Content == s.local.Content {
		return fact.No
	}
	own := s.local.listing.version(of)
	if own != nil && own.Inventory == v.Inventory {
		return fact.No
	}
	hosted := slices.Clone(s.local.listing.resources(of))
	added, known := false, true
	for _, p := range s.peers() {
		if theirs := s.member.facts.views()[p]; theirs == nil {
			known = false
		} else if has := theirs.local.listing.resources(of); slices.Contains(theirs.alone(), of) {
			added = added || !reflect.DeepEqual(has, s.local.listing.resources(of))
			hosted = append(hosted, has...)
		}
	}
	stray := slices.ContainsFunc(document.listing.resources(of), func(r history.ListedResource) bool { return find(hosted, r.Name) == nil })
	switch {
	case added && !stray:
		return fact.Yes
	case !known:
		return fact.Unknown
	}
	return fact.No
}

// peers are the processes of other members that a union may have something from: of a
// member that is there, or was so shortly before that it need not be forgotten.
func (s *sweep) peers() []*fact.Process {
	var out []*fact.Process
	for _, other := range s.member.facts.all() {
		if other == s.member || other.left().Since(int64(peersLeave)).At(s.from) == fact.Yes {
			continue
		}
		last := s.member.facts.LastProcess(other.name, history.ComponentAPIServer, s.to)
		for _, p := range s.member.facts.Processes(other.name, history.ComponentAPIServer) {
			if p == last || p.Started.Earliest <= s.to && p.Exited != nil && p.Exited.Latest >= s.from-int64(peersShow) {
				out = append(out, p)
			}
		}
	}
	return out
}

// leased is while the identity Lease of the member is in force: it exists, and has not
// expired by the clock of the server that renews it.
func (m *member) leased() fact.Signal {
	f, p := m.facts, m.facts.Participation(m.facts.ServerID(m.name))
	var valid []fact.Signal
	for i, r := range p.Renewals {
		from, expires, apart := f.When(r.Stamp), f.Time(r.Renewed)+int64(r.Duration), int64(clocksApart())
		switch {
		case r.Duration > 0 && !r.Renewed.IsZero():
			valid = append(valid, fact.Between(from, &fact.Moment{Earliest: expires - apart, Latest: expires + apart}))
		case i+1 < len(p.Renewals):
			next := f.When(p.Renewals[i+1].Stamp)
			valid = append(valid, fact.Between(from, &next))
		default:
			valid = append(valid, fact.From(from))
		}
	}
	return fact.And(p.Signal(f.History), fact.Or(valid...))
}

// acquainted is while all members have been as they are for so long that they know each other.
func (f *Facts) acquainted() fact.Signal {
	type key struct{}
	return fact.Cached(f.History, key{}, func() fact.Signal {
		return fact.And(fact.Each(f.all(), func(m *member) fact.Signal {
			return fact.Or(fact.And(m.serves(), m.leased()), m.left())
		})...).Since(int64(peersShow))
	})
}

// left is while the member has left: neither is there a process of its API server, nor is
// the identity Lease in force with which it had joined. Of one that was not seen to join it
// cannot be known.
func (m *member) left() fact.Signal {
	return m.signal("left", func() fact.Signal {
		p := m.facts.Participation(m.facts.ServerID(m.name))
		if len(p.Spans) == 0 {
			return fact.Constant(fact.No)
		}
		joined := fact.From(m.facts.When(p.Spans[0].Joined))
		return fact.And(joined, fact.Not(m.facts.Alive(m.name, history.ComponentAPIServer)), fact.Not(m.leased()))
	})
}
