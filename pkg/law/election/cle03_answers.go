package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle03: a healthy candidate answers a ping within the window of an election (KEP-4355,
// "Coordinated Election Controller"). A ping and its answer carry their own times, so no
// recorder is between them; but an answer counts only when it is in etcd.
var cle03 = law.Deadline[*Facts, answerer]{
	Row: law.Row{ID: "CLE-03", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "answered"}, {Name: "answeredEach", Each: true},
	}},
	Bound:   "answersWithin",
	Over:    (*Facts).answerers,
	Begin:   answerer.pings,
	Running: func(a answerer) fact.Signal { return fact.And(a.able(a.by), fact.Not(a.mute(a.by.Member))) },
	Done:    func(a answerer) []fact.Moment { return a.answers() },
	Void: func(a answerer) []law.Void {
		if gone := a.Gone(); gone != nil {
			return append(law.Voids("the candidate was deleted", *gone), law.Ended(a.by)...)
		}
		return law.Ended(a.by)
	},
	Lacking: func(a answerer) string { return "candidate " + a.Name + " did not answer a ping" },
}

// answerer is a process that answers for a candidate from a time on: the one that declared it, or one
// that goes on with it, from when it has first renewed it.
type answerer struct {
	*Candidate
	by    *fact.Process
	since int64
}

func (f *Facts) answerers() (out []answerer) {
	for _, k := range candidates((*Candidate).ofMember)(f) {
		out = append(out, answerer{k, k.process(), fact.LongAgo})
		for _, p := range k.keepers() {
			if i := slices.IndexFunc(k.said, func(s *statement) bool { return k.renewedBy(p, s) }); i >= 0 {
				out = append(out, answerer{k, p, k.when(k.said[i]).Latest})
			}
		}
	}
	return out
}

// pings are when the candidate was asked, by the time in the ping, while the process could answer.
func (a answerer) pings() []fact.Moment {
	pings := fact.Where(a.said, func(s *statement) bool { return s.asked && (s != a.said[0] || !s.Answered()) })
	at := fact.Each(pings, func(s *statement) fact.Moment { return fact.Exactly(a.Time(s.Pinged), s.Seq) })
	able := a.able(a.by)
	return fact.Where(at, func(m fact.Moment) bool { return m.Latest >= a.since && able.At(m.Latest) == fact.Yes })
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
