package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle06: the candidate with the lowest version is elected, of those that answered
// (KEP-4355, "Coordinated Election Controller"). The KEP compares the binary version first
// and the published API the emulated one: a breach is what is wrong in either order.
var cle06 = law.Written[*Facts]{
	Row: law.Row{ID: "CLE-06", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "differed", Tag: "differed"}, {Name: "orderDecides", Tag: "orderDecides"},
	}},
	Judge: judgeOldest,
}

func judgeOldest(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, c := range f.elections() {
		who, gone := c.elected()
		if who == nil || gone {
			continue // CLE-05 judges that
		}
		winner := who.at(c.Revision).now
		var tags []string
		better := (*Candidate)(nil)
		for _, other := range c.lease.standing(c.Revision) {
			if other == who || !c.tookPart(other) {
				continue
			}
			said := other.at(c.Revision).now
			if !alike(&winner, &said) {
				tags = append(tags, "differed")
			}
			if orderDecides(&winner, &said) {
				tags = append(tags, "orderDecides")
			}
			if older(&said, &winner) {
				better = other
			}
		}
		if better == nil {
			l.MetBy(f.MemberOf(c.Now.Holder), c.lease.Key, c.When(), tags...)
			continue
		}
		said := better.at(c.Revision)
		l.Broken(c.lease.Key, c.When(), law.Evidence(said.Seq, c.Seq), "%s (%s, behaving like %s) was elected for %s, and %s (%s, behaving like %s) had answered",
			who.Name, winner.Binary, emulation(&winner), c.lease.Key, better.Name, said.now.Binary, emulation(&said.now))
	}
}
