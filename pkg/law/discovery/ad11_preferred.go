package discovery

import (
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad11: the first version of a group is the preferred one (KEP-3352, API).
var ad11 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-11", Sources: definitions, Needs: each("several")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		for _, s := range f.sweeps() {
			document, plain := s.steady(groupsPath), s.plain(groupsPath)
			if document == nil || document.listing == nil || plain == nil {
				continue
			}
			preferred := map[string]string{}
			for _, group := range plain.listing.groups {
				preferred[group.Name] = group.Preferred
			}
			for _, group := range document.listing.groups {
				want, known := preferred[group.Name]
				// A foreign version may come or go between the two documents.
				if len(group.Versions) < 2 || !known || s.member.isForeign(group.Name, "", s.from) {
					continue
				}
				e := law.Entry{Ending: law.Met, About: group.Name, Member: s.member.name, Began: document.moment(), Tags: []string{"several"}}
				if first := group.Versions[0].Version; first != want {
					e.Ending, e.Evidence = law.Broken, law.Evidence(plain.seq, document.seq)
					e.Why = fmt.Sprintf("%s prefers %s, but the aggregated document has %s first", s.member.name, named(group.Name, want), named(group.Name, first))
				}
				l.Add(e)
			}
		}
	},
}
