package election

import (
	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle03: a healthy candidate answers a ping within the window of an election (KEP-4355,
// "Coordinated Election Controller"). A ping and its answer carry their own times, so no
// recorder is between them; but an answer counts only when it is in etcd.
var cle03 = law.Deadline[*Facts, *Candidate]{
	Row: law.Row{ID: "CLE-03", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "answered"}, {Name: "answeredEach", Each: true},
	}},
	Bound: "answersWithin",
	Over:  candidates((*Candidate).ofMember),
	Begin: (*Candidate).pings,
	Running: func(k *Candidate) fact.Signal {
		return fact.And(k.able(k.process()), fact.Not(k.mute(k.process().Member)))
	},
	Done: (*Candidate).answers,
	Void: func(k *Candidate) []law.Void {
		if gone := k.Gone(); gone != nil {
			return append(law.Voids("the candidate was deleted", *gone), law.Ended(k.process())...)
		}
		return law.Ended(k.process())
	},
	Lacking: func(k *Candidate) string { return "candidate " + k.Name + " did not answer a ping" },
}

// pings are when the candidate was asked, by the time in the ping, while it could answer.
func (k *Candidate) pings() []fact.Moment {
	pings := fact.Where(k.said, func(s *statement) bool { return s.asked && (s != k.said[0] || !s.Answered()) })
	at := fact.Each(pings, func(s *statement) fact.Moment { return fact.Exactly(k.Time(s.Pinged), s.Seq) })
	able := k.able(k.process())
	return fact.Where(at, func(m fact.Moment) bool { return able.At(m.Latest) == fact.Yes })
}

// answers are when the candidate renewed after it was asked, by the time in the renewal. One that
// certainly took longer than that from the one change in etcd to the other came so much later.
func (k *Candidate) answers() []fact.Moment {
	var out []fact.Moment
	var ping *statement
	for _, s := range k.said {
		switch {
		case s.asked:
			ping = s
		case s.renewed && s.Answered():
			at := k.Time(s.Renewed)
			if ping != nil {
				took, _ := k.when(ping).Until(k.when(s))
				at = max(at, k.Time(ping.Pinged)+int64(took))
			}
			out = append(out, fact.Exactly(at, s.Seq))
		}
	}
	return out
}
