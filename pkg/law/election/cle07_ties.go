package election

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle07: candidates of one version are told apart the same way every time (KEP-4355,
// "Coordinated Election Controller": by their names).
var cle07 = law.SameAcross[*Facts]{
	Row:     law.Row{ID: "CLE-07", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{{Name: "again"}}},
	Samples: winners,
	Breach: func(first, other law.Sample) string {
		return other.Value + " was elected of " + other.Key + ", and before it was " + first.Value
	},
}

// winners are who was elected of which equal candidates, where all that stood certainly
// took part.
func winners(f *Facts) []law.Sample {
	var out []law.Sample
	for _, c := range f.elections() {
		who, gone := c.elected()
		if who == nil || gone {
			continue
		}
		standing := c.lease.standing(c.Revision)
		if slices.ContainsFunc(standing, func(k *Candidate) bool {
			return k.Present().During(c.When()) != fact.Yes || !k.at(c.Revision).now.Answered() || k != who && !c.tookPart(k)
		}) {
			continue
		}
		var equal []string
		for _, k := range standing {
			if alike(&who.at(c.Revision).now, &k.at(c.Revision).now) {
				equal = append(equal, k.Name)
			}
		}
		if len(equal) > 1 {
			out = append(out, law.Sample{Key: strings.Join(equal, " "), By: f.MemberOf(c.Now.Holder), Value: who.Name, At: c.When()})
		}
	}
	return out
}
