package election

import (
	"fmt"
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
		law.Written[*Facts]{Judge: judgeExpiredWinners},
		law.Deadline[*Facts, *Candidate]{
			Over:     (*Facts).expiredCandidates,
			Describe: func(c *Candidate) law.Entry { return law.Entry{About: c.Name} },
			Begin:    func(c *Candidate) []fact.Moment { return []fact.Moment{c.facts.When(c.lastChange().Stamp)} },
			BoundOf:  (*Candidate).removal,
			Done: func(c *Candidate) []fact.Moment {
				if gone := c.Gone(); gone != nil {
					return []fact.Moment{*gone}
				}
				return nil
			},
			Breach: func(c *Candidate, _ fact.Moment, _ *fact.Moment, took time.Duration) string {
				return fmt.Sprintf("candidate %s was there for %s after it had expired", c.Name, took.Round(time.Second))
			},
			Tag: func(*Candidate, fact.Moment, fact.Moment) []string { return []string{"removed"} },
		},
	},
}

func (c *Candidate) lastChange() *candidateChange { return &c.changes[len(c.changes)-1] }

// expiredCandidates are those that expired before they were deleted, or had when they were
// written.
func (f *Facts) expiredCandidates() []*Candidate {
	var out []*Candidate
	for _, c := range f.candidates {
		end := f.Now
		if c.gone != nil {
			end = c.gone.At
		}
		if f.expired(c.last(), end) {
			out = append(out, c)
		}
	}
	return out
}

// removal is within which time from its last renewal, or from when it was written with an
// old one, a candidate has to be removed.
func (c *Candidate) removal(written fact.Moment) time.Duration {
	goes := bound("CLE-16", "deadCandidateGoes")
	old := time.Duration(written.Latest - c.facts.Time(c.last().Renewed))
	return max(goes-old, goes/2)
}

func judgeExpiredWinners(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, c := range f.elections() {
		who, gone := c.elected()
		made := c.madeAt()
		if who != nil && !f.expired(&who.lastBefore(c.Revision).now, made.Earliest) && f.expired(&who.lastBefore(c.Revision).now, made.Latest) {
			l.Unclear(c.lease.Key, c.When(), "whether %s had expired when it was elected is not certain", who.Name)
			continue
		}
		if who != nil && f.expired(&who.lastBefore(c.Revision).now, made.Earliest) {
			why := "had expired"
			if gone {
				why = "had expired and was removed"
			}
			l.Broken(c.lease.Key, c.When(), law.Evidence(who.lastBefore(c.Revision).Seq, c.Seq), "%s was elected for %s, and %s before", who.Name, c.lease.Key, why)
			continue
		}
		for _, other := range c.lease.standing(c.Revision) {
			if f.expired(&other.at(c.Revision).now, c.When().Earliest) {
				l.Met(c.lease.Key, c.When(), "beside")
				break
			}
		}
	}
}

// lastBefore is what a candidate said last before a revision, whether it was deleted since
// or not.
func (c *Candidate) lastBefore(revision int64) *candidateChange {
	last := &c.changes[0]
	for i := range c.changes {
		if c.changes[i].Revision < revision {
			last = &c.changes[i]
		}
	}
	return last
}
