package discovery

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad11: the first version of a group is the preferred one (KEP-3352, API).
var ad11 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-11", Takes: law.AnyRun, Sources: definitions, Needs: each("several")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, s := range f.quiet() {
			document, plain := s.steady(groupsPath), s.plain[groupsPath]
			if document.told() == nil || plain == nil {
				continue
			}
			preferred := map[string]string{}
			for _, group := range plain.listing.Groups {
				preferred[group.Name] = group.Preferred
			}
			for _, group := range document.listing.Groups {
				want, known := preferred[group.Name]
				// A foreign version may come or go between the two documents, and one that only
				// peers host is in the aggregated one alone.
				fromPeers := slices.ContainsFunc(group.Versions, func(v history.ListedVersion) bool {
					return s.byPeers(document, groupVersion{group.Name, v.Version}) != fact.No
				})
				if len(group.Versions) < 2 || !known || fromPeers || s.member.isForeign(groupVersion{group: group.Name}, s.from) {
					continue
				}
				e := document.entry(group.Name)
				if first := group.Versions[0].Version; first != want {
					l.Add(e.Broken("%s prefers %s of %s, but the aggregated document has %s first", s.member.name, want, group.Name, first).Shown(plain.seq, document.seq))
				} else {
					l.Add(e.Met("several"))
				}
			}
		}
	},
}
