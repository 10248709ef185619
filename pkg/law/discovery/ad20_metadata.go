package discovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad20: the list has no resourceVersion, for servers have no common order of changes, and a
// group's metadata has only its name (KEP-3352, API).
var ad20 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-20", Sources: documents, Needs: each("documents")},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		broken := map[string]bool{}
		for _, k := range f.looks(corePath, groupsPath) {
			if k.told() == nil || k.listing.kind != listKind {
				continue
			}
			e := law.Entry{Ending: law.Met, About: k.path, Member: k.member.name, Began: k.moment(), Tags: []string{"documents"}}
			if why := k.excess(); why != "" {
				e.Ending, e.Why, e.Evidence, e.SelfEvident = law.Broken, why, law.Evidence(k.seq), true
				if broken[k.member.name+why] {
					continue
				}
				broken[k.member.name+why] = true
			}
			l.Add(e)
		}
	},
}

// excess says what a document has beyond what it may have; empty if nothing.
func (k *look) excess() string {
	if slices.Contains(k.listing.metadata, "resourceVersion") {
		return fmt.Sprintf("%s gives the list at %s a resourceVersion", k.member.name, k.path)
	}
	for _, group := range k.listing.groups {
		if len(group.Metadata) > 0 {
			return fmt.Sprintf("%s gives the group %q at %s metadata beside its name: %s", k.member.name, group.Name, k.path, strings.Join(group.Metadata, ", "))
		}
	}
	return ""
}
