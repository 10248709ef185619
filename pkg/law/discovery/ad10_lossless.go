package discovery

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad10: whatever unaggregated discovery says about a resource, the aggregated document says
// too (KEP-3352: it has all that clients get from the others). What an aggregated server
// says may be out of date where it is marked so.
var ad10 = law.Each[*Facts, *row]{
	Row:  law.Row{ID: "AD-10", Takes: []string{history.LackBackends}, Sources: definitions, Needs: each("own", "remote")},
	Over: (*Facts).rows,
	End: func(r *row, _ law.Bounds) law.Entry {
		e, tag := r.entry(), "own"
		if r.remote {
			tag = "remote"
		}
		switch {
		case r.told == nil:
			return law.Entry{}
		case r.listed == nil:
			return e.Broken("%s serves %s, but the aggregated document at %s does not have it", r.member.name, r.groupVersion, r.path()).Shown(r.endpoint.seq, r.document.seq)
		case r.remote && (r.listed.Freshness == history.FreshnessStale || r.member.facts.behind(r.group, r.from, r.to)):
			return e.Excused("what an aggregated server says may be out of date where it is marked so, or soon after it misbehaved")
		}
		aggregated, told := r.document.listing.resources(r.groupVersion), r.endpoint.listing.resources(r.groupVersion)
		lost := lostFrom(aggregated, told, r.byPeers != fact.Yes)
		if lost != "" && r.byPeers == fact.Unknown && lostFrom(aggregated, told, false) == "" {
			return e.Excused("it is not known what a peer hosts")
		}
		if lost != "" {
			return e.Broken("%s tells of %s at %s otherwise than in the aggregated document: %s", r.member.name, r.groupVersion, r.endpoint.Path, lost).Shown(r.endpoint.seq, r.document.seq)
		}
		return e.Met(tag)
	},
}

// lostFrom says what of the resources told is missing or another; empty if nothing is. Where the
// document has something from peers, they may add to a resource.
func lostFrom(aggregated, told []history.ListedResource, alone bool) string {
	for i := range told {
		if lost := lostFromUnion(find(aggregated, told[i].Name), &told[i], alone); lost != "" {
			return lost
		}
	}
	return ""
}
