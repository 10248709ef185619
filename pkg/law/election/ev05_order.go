package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ev05: of the candidates that answered, the one is elected that behaves like the oldest
// version, and of several the one with the oldest binary (Kubernetes, coordinated leader
// election, "OldestEmulationVersion"). So a component that emulates an older release leads,
// whatever its binary, and in an upgrade of two steps no leader behaves like a newer release
// than the members that have still to follow. KEP-4355 compares the binaries first, from
// before there were emulated versions; CLE-06 judges what is wrong in either order.
var ev05 = law.Each[*Facts, *election]{
	Row: law.Row{ID: "EV-05", Also: []string{history.LackEmulation}, Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "emulating", Tag: "emulating"}, {Name: "orderDecides", Tag: "orderDecides"},
	}},
	Over: (*Facts).electionsOfCandidates,
	End: func(c *election, _ law.Bounds) law.Entry {
		out := c.Entry().Met()
		if emulates(c.said) {
			out = out.Met("emulating")
		}
		return c.passedOver(out, behavesOlder, func(out law.Entry, other *statement) law.Entry {
			if emulated, binary := order(other, c.said); emulated > 0 && binary < 0 {
				out = out.Met("orderDecides")
			}
			return out
		})
	},
}

// emulates is whether a candidate behaves like another version than its binary's.
func emulates(s *statement) bool { return !sameMinor(emulation(&s.Candidate), s.Binary) }

// behavesOlder is whether a candidate comes before another one by what they behave like, and
// then by their binaries.
func behavesOlder(a, b *statement) bool {
	emulated, binary := order(a, b)
	return emulated < 0 || emulated == 0 && binary < 0
}
