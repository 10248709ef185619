package election

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// cle16: candidates that have expired cannot be elected, and are removed within a bound
// (KEP-4355, "Component Lease Candidates").
var cle16 = law.Together[*Facts]{
	Row: law.Row{ID: "CLE-16", Sources: []fact.Source{fact.Etcd}, Needs: []law.Need{
		{Name: "removed", Tag: "removed"}, {Name: "beside", Tag: "beside"},
	}},
	Parts: []law.Law[*Facts]{
		law.Each[*Facts, *election]{Over: (*Facts).elections, End: (*election).ofLiving},
		law.Deadline[*Facts, *Candidate]{
			Over: candidates(func(k *Candidate) bool {
				return k.gone != nil && k.expired(k.last(), k.gone.At) || k.gone == nil && k.expired(k.last(), k.Now)
			}),
			Begin:   law.Once(func(k *Candidate) fact.Moment { return k.when(k.lastRenewal()) }),
			BoundOf: (*Candidate).removal,
			// Any server that has coordination removes them, whichever coordinates.
			Running: (*Candidate).canCoordinate,
			Done: func(k *Candidate) []fact.Moment {
				if gone := k.Gone(); gone != nil {
					return []fact.Moment{*gone}
				}
				return nil
			},
			Lacking: func(k *Candidate) string { return "candidate " + k.Name + " was there after it had expired" },
			Tag:     func(*Candidate, fact.Moment, fact.Moment) []string { return []string{"removed"} },
		},
	},
}

// lastRenewal is the statement with which it renewed last: pings of a dead candidate do not
// begin its time anew.
func (k *Candidate) lastRenewal() *statement {
	renewals := fact.Where(k.said, func(s *statement) bool { return s.renewed })
	return renewals[len(renewals)-1]
}

// removal is within which time from its last renewal, or from when it was written with an
// old one, a candidate has to be removed.
func (k *Candidate) removal(written fact.Moment) time.Duration {
	goes := bound("CLE-16", "deadCandidateGoes")
	old := time.Duration(written.Latest - k.Time(k.last().Renewed))
	return max(goes-old, goes/2)
}

func (e *election) ofLiving(_ law.Bounds) law.Entry {
	made := e.madeAt()
	switch {
	case e.who != nil && e.expired(e.said, made.Earliest):
		return e.Entry().Broken("%s was elected for %s, and had expired before", e.who.Name, e.Key).Shown(e.said.Seq, e.Seq)
	case e.who != nil && e.expired(e.said, made.Latest):
		return e.Entry().Unclear("whether %s had expired when it was elected is not certain", e.who.Name)
	case slices.ContainsFunc(e.standing(e.Revision), func(k *Candidate) bool { return e.expired(k.at(e.Revision), e.When().Earliest) }):
		return e.Entry().Met("beside")
	}
	return law.Entry{}
}
