package discovery

import (
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad12: groups and resources come in one stable order on all servers, so that servers that
// have the same have the same document.
var ad12 = law.Written[*Facts]{
	Row: law.Row{ID: "AD-12", Takes: []string{history.LackRestarts}, Sources: documents, Needs: append(anyOf("common", "restarted"), law.Need{Name: "contents", Tag: "content"})},
	Judge: func(f *Facts, l *law.Ledger, _ law.Bounds) {
		contents := f.sightings()
		for _, k := range f.looks {
			// While a server starts it may still put things in order.
			if k.told() == nil || k.by() == nil {
				continue
			}
			set, order := k.listing.contents, k.listing.order
			if len(f.foreign) > 0 {
				// The APIServices of a group decide on its place, the foreign ones among them.
				set, order = k.listing.without(func(of groupVersion) bool { return k.member.isForeign(groupVersion{group: of.group}, k.from) })
			}
			known, isNew := contents.first(set, order, k.seq)
			switch e := k.entry(""); {
			case known.with != order:
				l.Add(e.Broken("%s lists what was listed before, or by another member, in another order", k.member.name).Shown(known.seq, k.seq))
			case k.Path == corePath:
				l.Add(e.Met()) // it hardly ever changes, which tests little
			case isNew:
				l.Add(e.Met(append(contents.news(set, k), "content")...))
			default:
				l.Add(e.Met(contents.news(set, k)...))
			}
		}
	},
}
