package discovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad20: the list has no resourceVersion, for servers have no common order of changes, and a
// group's metadata has only its name (KEP-3352, API).
var ad20 = law.Each[*Facts, *answer]{
	Row: law.Row{ID: "AD-20", Takes: law.AnyRun, Sources: documents, Needs: each("documents")},
	Over: func(f *Facts) []*answer {
		return fact.Where(f.looks, func(k *answer) bool { return k.told() != nil && k.listing.Kind == listKind })
	},
	End: func(k *answer, _ law.Bounds) law.Entry {
		if excess := k.listing.excess(); excess != "" {
			return k.entry(k.Path).Broken("%s gives %s at %s", k.member.name, excess, k.Path).Alone()
		}
		return k.entry(k.Path).Met("documents")
	},
}

// excess says what a document has beyond what it may have; empty if nothing.
func (l *listing) excess() string {
	if slices.Contains(l.Metadata, "resourceVersion") {
		return "the list a resourceVersion"
	}
	for _, group := range l.Groups {
		if len(group.Metadata) > 0 {
			return fmt.Sprintf("the group %q metadata beside its name: %s", group.Name, strings.Join(group.Metadata, ", "))
		}
	}
	return ""
}
