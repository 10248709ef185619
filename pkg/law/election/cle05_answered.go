package election

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle05: the leader is picked from the candidates that have acknowledged (KEP-4355,
// "Coordinated Election Controller").
var cle05 = law.Each[*Facts, *election]{
	Row: law.Row{ID: "CLE-05", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "answered"}, {Name: "beside", Tag: "beside"},
	}},
	Over: (*Facts).elections,
	End: func(c *election, _ law.Bounds) law.Entry {
		e, elected := c.Entry(), c.Now.Holder+" was elected for "+c.Key
		switch {
		case c.who == nil && len(c.standing(c.Revision)) == 0:
			return e.Excused("no candidate stood")
		case c.who == nil:
			return e.Broken("%s, and has never been a candidate for it", elected)
		case c.longGone() == fact.Yes:
			return e.Broken("%s, and had been deleted for %s", elected, time.Duration(c.When().Earliest-c.who.Gone().Latest).Round(time.Second)).Shown(c.who.Gone().Seq, c.Seq)
		case c.longGone() == fact.Unknown:
			return e.Unclear("how long it had been deleted when %s is not certain", elected)
		case !c.said.Answered():
			return e.Broken("%s, and had not answered the ping before", elected).Shown(c.said.Seq, c.Seq)
		case c.renewedBefore(c.who) > notion("answeredWithin"):
			return e.Broken("%s, and had answered nothing for %s", elected, c.renewedBefore(c.who).Round(time.Second)).Shown(c.said.Seq, c.Seq)
		case slices.ContainsFunc(c.standing(c.Revision), c.silentBefore):
			return e.Met("beside")
		}
		return e.Met()
	},
}

// silentBefore is whether a candidate had not answered before the election.
func (e *election) silentBefore(k *Candidate) bool {
	said := k.at(e.Revision)
	return !said.Answered() || e.expired(said, e.At) || fact.Harness(k.Name) && e.renewedBefore(k) > notion("answeredWithin")
}

// longGone is whether the winner had been deleted when the coordinator began to wait for answers,
// and the coordinator knew of that.
func (e *election) longGone() fact.Truth {
	if !e.gone {
		return fact.No
	}
	return within(*e.who.Gone(), e.When(), notion("electionWaits")+notion("knownAfter")).Not()
}
