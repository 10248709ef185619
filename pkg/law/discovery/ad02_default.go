package discovery

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad02: a client that does not ask for the aggregated document gets the one that is not,
// and the endpoints of single group-versions stay (KEP-3352, "the default").
var ad02 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-02", Sources: definitions, Needs: append(atBoth("default"), each("endpoints")...)},
	Parts: []law.Law[*Facts]{
		law.Written[*Facts]{Row: law.Row{ID: "AD-02"}, Judge: judgeDefaults},
		law.Written[*Facts]{Row: law.Row{ID: "AD-02"}, Judge: judgeEndpoints},
	},
}

func judgeDefaults(f *Facts, l *law.Ledger, _ law.Bounds) {
	judged(f, l, func(_ *sweep, a *answer) bool {
		return a.document() && len(a.options) == 1 && !a.options[0].aggregated() && a.options[0].supported(nil) && !a.untold()
	}, func(s *sweep, a *answer) (string, string, []int64) {
		if a.code != http.StatusOK || !a.formed || !a.options[0].fits(a.form) || a.listing == nil || a.listing.kind != plainKinds[a.path] {
			return "", fmt.Sprintf("%s was asked at %s without a word of aggregation (Accept: %q) and answered %d with the content type %q, not with the %s that it was always asked for so",
				s.member.name, a.path, a.accept, a.code, a.contentType, plainKinds[a.path]), law.Evidence(a.seq)
		}
		return "default", "", nil
	})
}

// judgeEndpoints looks for the endpoint of each group-version that a server hosts itself.
func judgeEndpoints(f *Facts, l *law.Ledger, _ law.Bounds) {
	silent := map[[2]string][]string{} // at the last look, by member and path
	for _, s := range f.sweeps() {
		for _, path := range []string{corePath, groupsPath} {
			document := s.steady(path)
			if document == nil || document.listing == nil {
				continue
			}
			key := [2]string{s.member.name, path}
			silent[key] = nil
			document.listing.each(func(group string, v *history.ListedVersion) {
				if s.member.isForeign(group, v.Version, s.from) || f.remote(group, v.Version, s.to) {
					return
				}
				if e, excused := s.peersEndpoint(document, group, v); excused {
					l.Add(e)
					return
				}
				e := s.endpoint(document, group, v)
				if e.Ending == law.Excused && v.Freshness == history.FreshnessCurrent {
					silent[key] = append(silent[key], named(group, v.Version))
				}
				l.Add(e)
			})
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(silent), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		if len(silent[key]) > 0 {
			l.Doubt("%s was not seen to have an endpoint for %s when it was looked at last", key[0], strings.Join(silent[key], ", "))
		}
	}
}

// peersEndpoint excuses that of a group-version that only peers host: a server has endpoints
// of what it hosts itself, and hands requests for the objects of its peers on (AD-23).
func (s *sweep) peersEndpoint(document *answer, group string, v *history.ListedVersion) (law.Entry, bool) {
	e := law.Entry{Ending: law.Excused, About: named(group, v.Version), Member: s.member.name, Began: document.moment()}
	by := s.byPeers(document, group, v)
	if by == fact.No || s.local.listing.version(group, v.Version) != nil {
		return e, false
	}
	e.Why = "only peers host it"
	if by == fact.Unknown {
		e.Why = "it is not known what a peer hosts"
	}
	return e, true
}

// endpoint judges that of a group-version that a document lists.
func (s *sweep) endpoint(document *answer, group string, v *history.ListedVersion) law.Entry {
	name := named(group, v.Version)
	a, plain := s.versions()[name], s.plain(pathOf(group))
	e := law.Entry{Ending: law.Met, About: name, Member: s.member.name, Began: document.moment(), Tags: []string{"endpoints"}}
	switch {
	case a != nil && a.untold(), a != nil && a.busy(), a == nil && (plain == nil || plain.listing.version(group, v.Version) != nil):
		e.Ending, e.Why = law.Excused, "the endpoint gave no answer"
	case a == nil:
		e.Ending, e.Evidence = law.Broken, law.Evidence(document.seq)
		e.Why = fmt.Sprintf("%s lists %s, but not in the documents that are not aggregated, so that no client finds its endpoint", s.member.name, name)
	case a.code != http.StatusOK || a.listing.version(group, v.Version) == nil:
		e.Ending, e.Evidence = law.Broken, law.Evidence(document.seq, a.seq)
		e.Why = fmt.Sprintf("%s lists %s, but %s does not tell of its resources: it answered %d", s.member.name, name, a.path, a.code)
	}
	return e
}
