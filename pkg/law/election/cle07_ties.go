package election

import (
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

// winners are who was elected of which equal candidates, where all that stood took part.
func winners(f *Facts) []law.Sample {
	var out []law.Sample
	for _, e := range f.electionsOfCandidates() {
		standing, all := e.standing(e.Revision), fact.Yes
		for _, k := range standing {
			all = min(all, k.Present().During(e.When()), fact.Of(k.at(e.Revision).Answered()))
			if k != e.who {
				all = min(all, e.tookPart(k))
			}
		}
		if all == fact.No {
			continue
		}
		equal := fact.Where(standing, func(k *Candidate) bool { return alike(e.said, k.at(e.Revision)) })
		if len(equal) > 1 {
			names := fact.Each(equal, func(k *Candidate) string { return k.Name })
			out = append(out, law.Sample{Key: strings.Join(names, " "), By: e.MemberOf(e.Now.Holder), Value: e.who.Name, At: e.When(), Unsure: all != fact.Yes})
		}
	}
	return out
}
