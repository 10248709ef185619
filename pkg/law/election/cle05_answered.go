package election

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle05: the leader is picked from the candidates that have acknowledged (KEP-4355,
// "Coordinated Election Controller").
var cle05 = law.Written[*Facts]{
	Row: law.Row{ID: "CLE-05", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "answered"}, {Name: "beside", Tag: "beside"},
	}},
	Judge: judgeElected,
}

func judgeElected(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, c := range f.elections() {
		who, gone := c.elected()
		switch {
		case who == nil && len(c.lease.standing(c.Revision)) == 0:
			l.Excused(c.lease.Key, c.When(), "no candidate stood")
		case who == nil:
			l.Broken(c.lease.Key, c.When(), law.Evidence(c.Seq), "%s was elected for %s, and has never been a candidate for it", c.Now.Holder, c.lease.Key)
		case gone:
			ago, _ := who.Gone().Until(c.madeAt())
			if ago > answeredWithin() {
				l.Broken(c.lease.Key, c.When(), law.Evidence(who.gone.Seq, c.Seq), "%s was elected for %s, and had withdrawn %s before", who.Name, c.lease.Key, ago.Round(time.Second))
			} else {
				l.Excused(c.lease.Key, c.When(), "the candidate had answered, and withdrew a moment before its election")
			}
		default:
			judgeAnswer(c, who, l)
		}
	}
}

func judgeAnswer(c *Change, who *Candidate, l *law.Ledger) {
	said := who.at(c.Revision)
	switch ago := c.renewedBefore(who); {
	case !said.now.Answered():
		l.Broken(c.lease.Key, c.When(), law.Evidence(said.Seq, c.Seq), "%s was elected for %s, and had not answered the ping before", who.Name, c.lease.Key)
	case ago > answeredWithin():
		l.Broken(c.lease.Key, c.When(), law.Evidence(said.Seq, c.Seq), "%s was elected for %s, and had answered nothing for %s", who.Name, c.lease.Key, ago.Round(time.Second))
	default:
		l.MetBy(c.lease.facts.MemberOf(c.Now.Holder), c.lease.Key, c.When(), c.besideSilent()...)
	}
}

// besideSilent tags an election beside a candidate that had not answered.
func (c *Change) besideSilent() []string {
	f := c.lease.facts
	for _, other := range c.lease.standing(c.Revision) {
		said := other.at(c.Revision)
		if !said.now.Answered() || f.expired(&said.now, c.At) || other.byHarness() && c.renewedBefore(other) > answeredWithin() {
			return []string{"beside"}
		}
	}
	return nil
}
