package discovery

import "github.com/evenkeel/evenkeel/pkg/law"

// keeps looks for a later document in which the same process has lost what it hosts itself,
// though nothing was changed since the look. Peers may have added to it.
func (s *sweep) keeps() law.Entry {
	f, document := s.member.facts, s.steady(groupsPath)
	for _, k := range s.member.from(s.to) {
		if f.changedBy(k.at) != f.changedBy(s.to) {
			break
		}
		if k.told() == nil || k.listing == document.listing || k.by() != s.by || !f.settled(k.from, k.at) {
			continue
		}
		for _, of := range document.listing.names {
			if wrong := k.lostSince(document, of); wrong != "" && s.hostsItself(document, of) && !s.member.isForeign(of, k.from) && len(f.definitionsOf(of.group)) == 0 {
				return s.differs(k.seq, "%s, which it had listed as its own", wrong)
			}
		}
	}
	return law.Entry{}
}

// lostSince says what of a group-version of an earlier document is missing; empty if nothing is.
func (a *answer) lostSince(document *answer, of groupVersion) string {
	if wrong := a.listing.otherwise(document.listing, of, false); wrong != "" {
		return wrong
	}
	if lost := lostFrom(a.listing.resources(of), document.listing.resources(of), false); lost != "" {
		return "has lost a resource of " + of.String() + ": " + lost
	}
	return ""
}
