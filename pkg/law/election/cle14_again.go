package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle14: a coordinator that loses its Lease stops without ending its API server, and can
// win again (KEP-4355, "Coordinated Election Controller": it must not exit).
var cle14 = law.Each[*Facts, *Tenure]{
	Row: law.Row{ID: "CLE-14", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "lived", Tag: "lived"}, {Name: "again", Tag: "again"},
	}},
	Over: tenures((*Lease).isCoordinators),
	End: func(t *Tenure, b law.Bounds) law.Entry {
		if t.Lost == nil || !t.Lost.Taken() || !byForce(t.Lost.Now.Holder) {
			return law.Entry{}
		}
		lost := t.Lost.When()
		p, e := t.ProcessAt(t.Member, t.component(), lost), law.Of(t.Member, lost).By(t.Member)
		if p == nil || p.Lived(lost) != fact.Yes {
			return law.Entry{}
		}
		end, harness := b.Over(), t.HarnessEnded(p)
		if p.Exited != nil {
			end = t.WhenEnded(p)
		}
		switch soon := within(lost, end, notion("noticesWithin")); {
		case soon == fact.No && slices.ContainsFunc(t.tenures(), func(later *Tenure) bool {
			return later.Taken.Revision > t.Lost.Revision && later.Member == t.Member && p.Lived(later.Taken.When()) == fact.Yes
		}):
			return e.Met("lived", "again")
		case soon == fact.No:
			return e.Met("lived")
		case p.Exited == nil:
			return e.Open("the history ended too soon after the loss")
		case harness == fact.Yes:
			return e.Excused("the harness ended the server")
		case soon == fact.Unknown, harness == fact.Unknown, lost.Before(end) != fact.Yes:
			return e.Unclear("whether the server ended because of its loss is not certain")
		}
		return e.Broken("the API server of %s ended (%s) after its coordinator had lost its Lease", p.Member, p.HowEnded()).Shown(lost.Seq, end.Seq)
	},
}
