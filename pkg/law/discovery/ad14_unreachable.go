package discovery

import (
	"strconv"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad14: the group-versions of an aggregated server that could never be reached are
// "published with an empty resource list and a Stale for Freshness" (KEP-3352), without
// harm to others.
var ad14 = dutyLaw(law.Row{ID: "AD-14", Takes: []string{history.LackBackends}, Sources: readiness, Needs: each("stale")}, "showsWithin", (*member).able, func(f *Facts) (out []duty) {
	for _, s := range f.spells(func(o *outage, c *change) bool { return o.takesNothing() && o.bitten > 0 && o.dead <= c.begun }) {
		// The server was dead before the APIService came, so that it is owed from then on, and not
		// from when the member asks that server first.
		began, until := s.change.at, min(s.until, s.change.over())
		if began >= until {
			continue
		}
		d := s.duty(fact.Exactly(began, s.change.seq), until, "the server could be reached, or its APIService was changed, before it had to show")
		d.since, d.wrong, d.never, d.tags = "the server of "+s.String()+" could not be reached", s.notUnreached, s.harms, always("stale")
		out = append(out, d)
	}
	return out
})

func (s spell) String() string { return s.groupVersion.String() }

// notUnreached says how a document does not list the group-version as one that was never
// reached.
func (s spell) notUnreached(k *answer) string {
	switch found := k.listing.version(s.groupVersion); {
	case found == nil:
		return "does not list it"
	case found.Freshness != history.FreshnessStale:
		return "calls it " + strconv.Quote(found.Freshness)
	case len(k.listing.resources(s.groupVersion)) > 0:
		return "lists resources in it"
	}
	return ""
}

// harms says how a document is wrong at any time: it lists the group-version otherwise, or
// calls something stale that the member hosts itself.
func (s spell) harms(k *answer) string {
	if k.listing.version(s.groupVersion) != nil {
		if wrong := s.notUnreached(k); wrong != "" {
			return wrong
		}
	}
	for _, of := range k.listing.names {
		v := k.listing.versions[of]
		if v.Freshness != history.FreshnessCurrent && !s.remote(of, k.at) && !s.isForeign(of, k.from) && !s.facts.changing(of.group, k.from, k.at) {
			return "calls " + of.String() + " " + strconv.Quote(v.Freshness) + ", which it hosts itself"
		}
	}
	return ""
}
