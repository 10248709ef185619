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
		out := c.Entry().Met()
		for _, other := range c.standing(c.Revision) {
			if other == c.who || !c.tookPart(other) {
				continue
			}
			said := other.at(c.Revision)
			if older(said, c.said) {
				return c.Entry().Broken("%s (%s, behaving like %s) was elected for %s, and %s (%s, behaving like %s) had answered",
					c.who.Name, c.said.Binary, emulation(&c.said.Candidate), c.Key, other.Name, said.Binary, emulation(&said.Candidate)).Shown(said.Seq, c.Seq)
			}
			if !alike(said, c.said) {
				out = out.Met("differed")
			}
			if emulated, binary := order(said, c.said); emulated*binary < 0 {
				out = out.Met("orderDecides")
			}
		}
		return out
	},
}
