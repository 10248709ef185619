package discovery

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad23: each server shows the union of what it and its peers host, tells of itself alone
// when asked to, and hands requests for what only peers host on to them (KEP-4020). A look
// at a member is judged when all members have been as they are for so long that they must
// know each other.
var ad23 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-23", Sources: peers, Needs: append(each("quiet"),
		law.Need{Name: "united", Tag: "united"}, law.Need{Name: "reached", Tag: "reached"}, law.Need{Name: "local", Tag: "local"})},
	Judge: func(f *Facts, l *law.Ledger, b law.Bounds) {
		u := &unions{facts: f, ledger: l, lacking: map[string]map[string]bool{}, broken: map[string]bool{}}
		known := f.acquainted(int64(b.Of("peersShow")))
		for _, s := range f.sweeps() {
			mine, document := s.viewIn(), s.same(groupsPath)
			if mine == nil || document == nil || document.listing == nil || known.During(s.moment()) != fact.Yes || !f.allViewed(s.to) {
				continue
			}
			l.MetBy(s.member.name, "a look", s.moment(), "quiet")
			u.look(s, mine, document)
		}
		for _, name := range law.SortedKeys(u.lacking) {
			for _, kind := range []string{"united", "reached", "local"} {
				if !u.lacking[name][kind] {
					l.Doubt("%s lacks what peers host, and nothing shows of it what is counted as %s", name, kind)
				}
			}
		}
	},
}

// unions compares what members say of all with what each says of itself.
type unions struct {
	facts  *Facts
	ledger *law.Ledger
	// lacking are the members that lack what a peer hosts, with what was seen of them.
	lacking map[string]map[string]bool
	broken  map[string]bool
}

// lackedResource is a resource that a member does not host, with the peers that do, in the
// order of the members.
type lackedResource struct {
	name, resource string
	hosts          []*member
}

// allViewed is whether it is known what each member hosts that has not left.
func (f *Facts) allViewed(at int64) bool {
	return !slices.ContainsFunc(f.all(), func(m *member) bool { return m.left().At(at) == fact.No && m.viewAt(at) == nil })
}

func (u *unions) look(s *sweep, mine *view, document *answer) {
	lacked := u.lackedBy(s, mine)
	if len(lacked) > 0 && u.lacking[s.member.name] == nil {
		u.lacking[s.member.name] = map[string]bool{}
	}
	left := false
	for _, r := range lacked {
		if find(mine.local[r.name], r.resource) == nil {
			left = true
		} else {
			u.breach("local", s, r, law.Evidence(mine.denied[r.name], u.seqOf(r.hosts[0], s), mine.seq),
				fmt.Sprintf("%s was asked for what it hosts itself and lists %s in %s, which only %s hosts", s.member.name, r.resource, r.name, r.hosts[0].name))
		}
		u.inUnion(s, document, r)
		u.handedOn(s, r)
	}
	if left {
		u.met("local", s, "its local view")
	}
}

func (u *unions) seqOf(host *member, s *sweep) int64 { return host.viewAt(s.to).seq }

func (u *unions) met(kind string, s *sweep, about string) {
	u.lacking[s.member.name][kind] = true
	u.ledger.MetBy(s.member.name, about, s.moment(), kind)
}

func (u *unions) breach(kind string, s *sweep, r lackedResource, evidence []int64, why string) {
	if id := kind + " " + s.member.name + " " + r.name; !u.broken[id] {
		u.broken[id] = true
		u.ledger.Add(law.Entry{Ending: law.Broken, About: r.resource + " in " + r.name, Member: s.member.name, Began: s.moment(), Evidence: evidence, Why: why})
	}
}

// lackedBy are the resources that peers which have not left host, and the member does not.
func (u *unions) lackedBy(s *sweep, mine *view) []lackedResource {
	found := map[[2]string]*lackedResource{}
	for _, other := range u.facts.all() {
		theirs := other.viewAt(s.to)
		if other == s.member || theirs == nil || other.left().At(s.to) != fact.No {
			continue
		}
		for name, resources := range theirs.local {
			if group, version := parted(name); s.member.isForeign(group, version, s.to) {
				continue
			}
			for _, resource := range resources {
				if !mine.lacks(name, resource.Name) || theirs.lacks(name, resource.Name) {
					continue
				}
				key := [2]string{name, resource.Name}
				if found[key] == nil {
					found[key] = &lackedResource{name: name, resource: resource.Name}
				}
				found[key].hosts = append(found[key].hosts, other)
			}
		}
	}
	var out []lackedResource
	for _, key := range slices.SortedFunc(maps.Keys(found), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		out = append(out, *found[key])
	}
	return out
}

// inUnion looks for what peers host in what the member says of all.
func (u *unions) inUnion(s *sweep, document *answer, r lackedResource) {
	group, version := parted(r.name)
	found, wrong := document.listing.version(group, version), ""
	if found == nil {
		wrong = "does not list " + r.name
	}
	for _, host := range r.hosts {
		if wrong != "" {
			break
		}
		theirs := find(host.viewAt(s.to).local[r.name], r.resource)
		if lost := lostFromUnion(find(u.facts.library.resources(found), r.resource), theirs, len(r.hosts) == 1); lost != "" {
			wrong = "lists " + r.name + " otherwise than " + host.name + " does: " + lost
		}
	}
	if wrong == "" {
		u.met("united", s, r.resource+" in "+r.name)
		return
	}
	u.breach("united", s, r, law.Evidence(u.seqOf(r.hosts[0], s), document.seq), fmt.Sprintf("%s %s, long after all members were there, of which %s hosts it", s.member.name, wrong, r.hosts[0].name))
}

// handedOn looks at the last request for objects that only peers host.
func (u *unions) handedOn(s *sweep, r lackedResource) {
	var last *answer
	for i := range s.answers {
		if name, resource, ok := resourceOfPath(s.answers[i].path); ok && name == r.name && resource == r.resource {
			last = &s.answers[i]
		}
	}
	switch {
	case last == nil || last.code == 0:
	case last.code == http.StatusOK:
		u.met("reached", s, r.resource+" in "+r.name)
	default:
		u.breach("reached", s, r, law.Evidence(u.seqOf(r.hosts[0], s), last.seq),
			fmt.Sprintf("%s was asked for %s in %s, which %s hosts, and answered %d %s", s.member.name, r.resource, r.name, r.hosts[0].name, last.code, last.status))
	}
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
