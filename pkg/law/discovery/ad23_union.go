package discovery

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad23: each server shows the union of what it and its peers host, tells of itself alone
// when asked to, and hands requests for what only peers host on to them (KEP-4020). A look
// at a member is judged when all members have been as they are for so long that they must
// know each other.
var ad23 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-23", Also: []string{history.LackPeers}, Sources: peers, Needs: append(each("quiet"), anyOf("united", "reached", "local")...)},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		if f.apart() {
			return
		}
		long := int64(b.Of("peersShow"))
		known := f.acquainted()
		seen := map[string]map[string]bool{} // kinds of what was met, by members that lack something
		for _, s := range f.ready() {
			document := s.same(groupsPath)
			if s.local == nil || s.plain[groupsPath] == nil || document.told() == nil {
				continue
			}
			owed := known.During(s.moment())
			if owed == fact.No || !f.allViewed(s.to) {
				l.Add(s.lostBesides(document, long))
				for _, r := range s.lacked() {
					l.Add(r.local(fact.No))
				}
				continue
			}
			l.Add(law.Of("a look", s.moment()).By(s.member.name).Met("quiet").Owed(owed))
			for _, r := range s.lacked() {
				for _, e := range []law.Entry{r.local(owed), r.united(document).Owed(owed), r.reached().Owed(owed)} {
					l.Add(e)
					if seen[s.member.name] == nil {
						seen[s.member.name] = map[string]bool{}
					}
					for _, tag := range e.Tags {
						seen[s.member.name][tag] = true
					}
				}
			}
		}
		for _, name := range law.SortedKeys(seen) {
			for _, kind := range []string{"united", "reached", "local"} {
				if !seen[name][kind] {
					l.Doubt("%s lacks what peers host, and nothing shows of it what is counted as %s", name, kind)
				}
			}
		}
	},
}

// apart is whether the harness started all API servers without what they need to ask each other. Of
// a cluster that is not its own the header says what it lacks.
func (f *Facts) apart() bool {
	_, foreign := f.Header.Lack(history.LackEarlier)
	return f.Header.Topology != nil && !foreign && f.Header.Setting("peerDiscovery") != "true"
}

// lostBesides looks, while it is not known of all members whether they are there, for what the
// union lacks of peers that are there and may have been for long, as the member has. A member that
// is gone, or does not answer, takes nothing of others with it; but it may keep the member from
// learning of them.
func (s *sweep) lostBesides(document *answer, long int64) law.Entry {
	there := func(m *member) bool {
		return fact.And(m.serves(), m.leased()).Since(long).During(s.moment()) != fact.No
	}
	if !there(s.member) {
		return law.Entry{}
	}
	for _, r := range s.lacked() {
		r.hosts = fact.Where(r.hosts, there)
		if len(r.hosts) == 0 || document.listing.hosts(r.groupVersion, r.resource) {
			continue
		}
		return r.entry().Unclear("%s does not list %s, which %s hosts, while it is not known of all members whether they are there", s.member.name, r, r.hosts[0].name)
	}
	return law.Entry{}
}

// allViewed is whether it is known what each member hosts that has not left.
func (f *Facts) allViewed(at int64) bool {
	return !slices.ContainsFunc(f.all(), func(m *member) bool { return m.left().At(at) == fact.No && m.viewAt(at) == nil })
}

// lackedResource is a resource that the member of a look does not host, with the peers that
// do, in the order of the members.
type lackedResource struct {
	*sweep
	groupVersion
	resource string
	hosts    []*member
}

func (r *lackedResource) String() string { return r.resource + " in " + r.groupVersion.String() }

func (r *lackedResource) entry() law.Entry {
	return law.Of(r.String(), r.moment()).By(r.member.name).Shown(r.hosts[0].viewAt(r.to).local.seq, r.sweep.local.seq)
}

// lacked are those that peers which have not left host, and the member does not.
func (s *sweep) lacked() []*lackedResource {
	var out []*lackedResource
	for _, other := range s.member.facts.all() {
		theirs := other.viewAt(s.to)
		if other == s.member || theirs == nil || other.left().At(s.to) != fact.No {
			continue
		}
		for _, of := range theirs.alone() {
			for _, resource := range theirs.local.listing.resources(of) {
				if s.member.isForeign(of, s.to) || s.hosts(of, resource.Name) != fact.No || theirs.hosts(of, resource.Name) == fact.No {
					continue
				}
				i := slices.IndexFunc(out, func(r *lackedResource) bool { return r.groupVersion == of && r.resource == resource.Name })
				if i < 0 {
					i = len(out)
					out = append(out, &lackedResource{sweep: s, groupVersion: of, resource: resource.Name})
				}
				out[i].hosts = append(out[i].hosts, other)
			}
		}
	}
	slices.SortFunc(out, func(a, b *lackedResource) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// local looks for it in what the member says of itself, which must not have it at any time. That
// it has not proves something only of a member that has to know the peers.
func (r *lackedResource) local(owed fact.Truth) law.Entry {
	if r.sweep.local.listing.hosts(r.groupVersion, r.resource) {
		return r.entry().Broken("%s was asked for what it hosts itself and lists %s, which only %s hosts", r.member.name, r, r.hosts[0].name)
	}
	return r.entry().Met("local").Owed(owed)
}

// united looks for it in what the member says of all.
func (r *lackedResource) united(document *answer) law.Entry {
	e := r.entry()
	if document.listing.version(r.groupVersion) == nil {
		return e.Broken("%s does not list %s, long after all members were there, of which %s hosts it", r.member.name, r.groupVersion, r.hosts[0].name)
	}
	united := find(document.listing.resources(r.groupVersion), r.resource)
	for _, host := range r.hosts {
		theirs := find(host.viewAt(r.to).local.listing.resources(r.groupVersion), r.resource)
		if lost := lostFromUnion(united, theirs, len(r.hosts) == 1); lost != "" {
			return e.Broken("%s lists %s otherwise than %s does: %s, long after all members were there", r.member.name, r.groupVersion, host.name, lost)
		}
	}
	return e.Met("united")
}

// reached looks at the last request for its objects, if there was any. It may fail for a fault
// at the member or at all that host it.
func (r *lackedResource) reached() law.Entry {
	for _, a := range slices.Backward(r.answers) {
		if of, resource, ok := located(a.Path); !ok || of != r.groupVersion || resource != r.resource {
			continue
		}
		switch a.Code {
		case 0:
			return law.Entry{}
		case http.StatusOK:
			return r.entry().Met("reached")
		}
		faulty := func(m *member) bool { return m.facts.FaultAt(m.name).During(a.moment()) != fact.No }
		if a.Code >= http.StatusInternalServerError && (faulty(r.member) || !slices.ContainsFunc(r.hosts, func(m *member) bool { return !faulty(m) })) {
			return r.entry().Excused("a fault was at the member or at its peers")
		}
		return r.entry().Broken("%s was asked for %s, which %s hosts, and answered %d %s", r.member.name, r, r.hosts[0].name, a.Code, a.Status).Shown(r.hosts[0].viewAt(r.to).local.seq, a.seq)
	}
	return law.Entry{}
}

// lostFromUnion says what of a peer's resource the union leaves out; empty if nothing.
// Where several host it, verbs and subresources are those of all.
func lostFromUnion(united, theirs *history.ListedResource, alone bool) string {
	switch {
	case united == nil:
		return theirs.Name + " is missing"
	case alone && !reflect.DeepEqual(*united, *theirs):
		return fmt.Sprintf("%s is %+v, and there %+v", theirs.Name, *united, *theirs)
	}
	for _, verb := range theirs.Verbs {
		if !slices.Contains(united.Verbs, verb) {
			return theirs.Name + " lacks the verb " + verb
		}
	}
	for i := range theirs.Subresources {
		sub := &theirs.Subresources[i]
		if lost := lostFromUnion(find(united.Subresources, sub.Name), sub, false); lost != "" {
			return theirs.Name + " lacks a subresource: " + lost
		}
	}
	return ""
}
