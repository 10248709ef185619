package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle06: the candidate with the lowest version is elected, of those that answered
// (KEP-4355, "Coordinated Election Controller"). The KEP compares the binary version first
// and the published API the emulated one: a breach is what is wrong in either order.
var cle06 = law.Each[*Facts, *election]{
	Row: law.Row{ID: "CLE-06", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "differed", Tag: "differed"}, {Name: "orderDecides", Tag: "orderDecides"},
	}},
	Over: (*Facts).electionsOfCandidates,
	End: func(c *election, _ law.Bounds) law.Entry {
		return c.passedOver(c.Entry().Met(), older, func(out law.Entry, other *statement) law.Entry {
			if !alike(other, c.said) {
				out = out.Met("differed")
			}
			if emulated, binary := order(other, c.said); emulated*binary < 0 {
				out = out.Met("orderDecides")
			}
			return out
		})
	},
}
