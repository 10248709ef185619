package migration

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// svm05: a migration leaves labels, annotations, owners, finalizers, generation, uid,
// managed fields and contents of what it rewrites as they are (KEP-25, "Migrator": it
// writes back what it read).
var svm05 = together{
	Row:   law.Row{ID: "SVM-05", Also: []string{history.LackTraffic}, Sources: []fact.Source{fact.Etcd}, Needs: needs("same", "contents")},
	Parts: parts{altersNone, written{Judge: countsSame}},
}

var altersNone = neverTouches(func(t *Touch, _ law.Bounds) law.Entry {
	if m := t.writer(); m != nil && t.altered() != "" {
		return t.Entry().Broken("%s was written at revision %d by migration %s, and its %s not what it was at revision %d",
			t, t.Revision, m.Name, t.altered(), t.Before.Revision)
	}
	return law.Entry{}
})

// countsSame counts the objects that migrations rewrote as they were, and the contents that
// still differed: those of one resource, between the two versions with the most.
func countsSame(f *Facts, l *law.Ledger, _ law.Bounds) {
	same, contents := map[*Migration]int64{}, map[string]int64{}
	for t := range f.touches(f.resources()...) {
		if t.learned {
			contents[fmt.Sprintf("%s from %s to %s", t.Object.in.of, t.Before.Version(), t.Version())]++
		}
		if t.During != nil && t.writer() != nil && t.altered() == "" {
			same[t.During]++
		}
	}
	for _, m := range f.Migrations {
		l.Add(tally(m.Entry(), same[m], "same"))
	}
	if about := law.SortedKeys(contents); len(about) > 0 {
		most := slices.MaxFunc(about, func(a, b string) int { return int(contents[a] - contents[b]) })
		l.Add(tally(law.Of(most, f.Over()), contents[most], "contents"))
	}
}
