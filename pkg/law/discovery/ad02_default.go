package discovery

import (
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad02: a client that does not ask for the aggregated document gets the one that is not,
// and the endpoints of single group-versions stay (KEP-3352, "the default").
var ad02 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-02", Takes: law.AnyRun, Sources: definitions, Needs: append(atBoth("default"), each("endpoints")...)},
	Parts: []law.Law[*Facts]{
		formLaw(law.Row{ID: "AD-02"}, func(_ *sweep, a *answer) (tag, wrong string) {
			switch {
			case !a.unconditional() || len(a.options) != 1 || a.options[0].aggregated() || !a.options[0].supported(nil) || a.lost():
				return "", ""
			case a.Code != http.StatusOK || !a.formed || !a.options[0].fits(a.form) || a.listing == nil || a.listing.Kind != plainKinds[a.Path]:
				return "", "did not give the " + plainKinds[a.Path] + " that it was always asked for so"
			}
			return "default", ""
		}),
		law.Each[*Facts, *row]{Row: law.Row{ID: "AD-02"}, Over: (*Facts).rows, End: (*row).hasEndpoint},
	},
}

// hasEndpoint looks for the endpoint of a group-version that a server hosts itself: it has
// none of what only peers host, and hands requests for their objects on (AD-23).
func (r *row) hasEndpoint(law.Bounds) law.Entry {
	name, e := r.member.name, r.entry()
	switch a := r.endpoint; {
	case r.listed == nil || r.remote:
		return law.Entry{}
	case r.byPeers != fact.No && r.local.listing.version(r.groupVersion) == nil:
		return e.Excused("only peers host it, as far as is known")
	case a == nil && r.plain == nil && r.sweep.plain[r.path()] != nil:
		return e.Broken("%s lists %s, but not in the documents that are not aggregated, so that no client finds its endpoint", name, r.groupVersion).Shown(r.document.seq)
	case a == nil || a.busy() || a.lost():
		if r.listed.Freshness == history.FreshnessCurrent {
			return e.Unclear("%s was not seen to have an endpoint for %s", name, r.groupVersion)
		}
		return e.Excused("the endpoint gave no answer")
	case r.told == nil:
		return e.Broken("%s lists %s, but %s does not tell of its resources: it answered %d", name, r.groupVersion, a.Path, a.Code).Shown(r.document.seq, a.seq)
	}
	return e.Met("endpoints")
}
