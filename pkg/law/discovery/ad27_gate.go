package discovery

import (
	"net/http"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad27: aggregated discovery is switched off and on at will, at each member by itself
// (KEP-3352, Feature Enablement and Rollback, and Rollout Planning). A server without it
// gives clients that accept the document that is not aggregated that one, and refuses the
// others with 406; one that has it again, or beside which another one is without, serves
// the aggregated document.
var ad27 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-27", Also: []string{history.LackFeatures}, Sources: definitions, Needs: slices.Concat(
		atEither("fallback"), atEither("refused"), atEither("mixed"), atEither("again"), anyOf("mapped"))},
	Parts: []law.Law[*Facts]{
		formLaw(law.Row{ID: "AD-27", Also: []string{history.LackFeatures}}, gated),
		clientLaw(law.Row{ID: "AD-27", Also: []string{history.LackFeatures}}, func(c *client, _ law.Bounds) law.Entry {
			if !withoutAggregation(c.by) || c.found.Legacy {
				return law.Entry{}
			}
			return c.maps("mapped")
		}),
	},
}

// gated judges an answer of a server that is or was without the feature, or is beside one.
func gated(s *sweep, a *answer) (tag, wrong string) {
	switch {
	case !a.unconditional() || !slices.ContainsFunc(a.options, func(o option) bool { return o.version == currentVersion }):
		return "", ""
	case withoutAggregation(s.by):
		return offered(a, nil, "fallback", "refused")
	case s.again():
		return offered(a, s.wanted(), "again", "")
	case s.beside():
		return offered(a, s.wanted(), "mixed", "")
	}
	return "", ""
}

// atEither is a need of a tag at each of the two documents, of whichever member.
func atEither(tag string) []law.Need {
	return anyOf(onPath(tag, corePath), onPath(tag, groupsPath))
}

// wanted are the versions of the aggregated document that a server with the feature serves:
// whether v2beta1 is among them is AD-05's.
func (s *sweep) wanted() []string {
	if slices.Contains(s.offered, betaVersion) {
		return []string{currentVersion, betaVersion}
	}
	return []string{currentVersion}
}

// offered judges an answer of a server that serves certain versions of the aggregated
// document: it is the client's first supported choice, or a refusal with a Status.
func offered(a *answer, versions []string, given, refused string) (tag, wrong string) {
	supported := supportedIn(a.options, versions)
	switch {
	case len(supported) == 0 && (a.Code != http.StatusNotAcceptable || a.Status == ""):
		return "", "is to have nothing of that, and did not answer 406 with a Status"
	case len(supported) == 0:
		return refused, ""
	case a.Code != http.StatusOK || !a.formed || !supported[0].fits(a.form):
		return "", "did not give " + supported[0].String()
	case supported[0].aggregated() == (len(versions) > 0):
		return given, ""
	}
	return "", ""
}

// again is whether an earlier process of the member was without aggregated discovery.
func (s *sweep) again() bool {
	for p := s.by.Before; p != nil; p = p.Before {
		if withoutAggregation(p) {
			return true
		}
	}
	return false
}

// beside is whether another member was without aggregated discovery all the time.
func (s *sweep) beside() bool {
	return slices.ContainsFunc(s.member.facts.all(), func(m *member) bool {
		return m != s.member && m.aggregates().During(s.moment()) == fact.No
	})
}
