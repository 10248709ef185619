package election

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// election is a change with which a coordinator elected a leader.
type election struct {
	*Change
	// who is the candidate that it made the leader, and said what that had said last; both
	// are nil if it made none the leader. gone is whether the candidate had been deleted.
	who  *Candidate
	said *statement
	gone bool
}

// elections are those of all Leases, in the order of their names.
func (f *Facts) elections() []*election {
	return fact.Each(changes((*Change).elects)(f), func(c *Change) *election {
		e := &election{Change: c}
		if e.who, e.gone = c.candidate(c.Now.Holder, c.Revision); e.who != nil {
			e.said = e.who.at(c.Revision)
		}
		return e
	})
}

// electionsOfCandidates are those of candidates that existed; CLE-05 judges the others.
func (f *Facts) electionsOfCandidates() []*election {
	return fact.Where(f.elections(), func(e *election) bool { return e.who != nil && !e.gone })
}

// elects is whether a coordinator elects a leader with the change.
func (c *Change) elects() bool {
	return c.Taken() && c.ByCoordinator() && c.Now.Strategy == oldest && !c.byOwner()
}

// renewedBefore is how long before the change a candidate had renewed last, at least.
func (c *Change) renewedBefore(k *Candidate) time.Duration {
	return time.Duration(c.madeAt().Earliest - c.Time(k.at(c.Revision).Renewed))
}

// tookPart is whether another candidate certainly took part in an election: it answered
// soon after it was asked, or renewed a moment before, and the coordinator knew of it.
func (e *election) tookPart(k *Candidate) bool {
	s := k.at(e.Revision)
	known, _ := k.Declared().Until(e.When())
	if !s.Answered() || e.expired(s, e.At) || known < notion("knownAfter") || e.renewedBefore(k) > notion("answeredWithin") {
		return false
	}
	// The answer has to reach the coordinator while it waits, whatever its watch takes.
	if s.Pinged.IsZero() {
		return e.renewedBefore(k) < notion("certainlyAnswered")
	}
	return s.Renewed.Sub(s.Pinged) < notion("certainlyAnswered")
}
