package election

import (
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
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

// tookPart is whether another candidate took part in an election: it answered soon after it was
// asked, or renewed a moment before, and the coordinator knew of it.
func (e *election) tookPart(k *Candidate) fact.Truth {
	s := k.at(e.Revision)
	// The answer has to reach the coordinator while it waits, whatever its watch takes.
	took := s.Renewed.Sub(s.Pinged)
	if s.Pinged.IsZero() {
		took = e.renewedBefore(k)
	}
	if !s.Answered() || e.expired(s, e.At) || took >= notion("certainlyAnswered") || e.renewedBefore(k) > notion("answeredWithin") {
		return fact.No
	}
	return e.knows(k)
}

// passedOver ends an election by the candidates that took part and come before the one that was
// elected. What may have been a breach, and no more, is unclear.
func (e *election) passedOver(out law.Entry, before func(a, b *statement) bool, tag func(out law.Entry, other *statement) law.Entry) law.Entry {
	for _, other := range fact.Where(e.standing(e.Revision), func(k *Candidate) bool { return k != e.who }) {
		part, said := e.tookPart(other), other.at(e.Revision)
		breach := fmt.Sprintf("%s (%s, behaving like %s) was elected for %s, and %s (%s, behaving like %s) had answered",
			e.who.Name, e.said.Binary, emulation(&e.said.Candidate), e.Key, other.Name, said.Binary, emulation(&said.Candidate))
		switch comes := before(said, e.said); {
		case part == fact.Yes && comes:
			return e.Entry().Broken("%s", breach).Shown(said.Seq, e.Seq)
		case part == fact.Unknown && comes:
			out = e.Entry().Unclear("it is not certain whether %s before the election", breach).Shown(said.Seq, e.Seq)
		case part == fact.Yes && out.Ending == law.Met:
			out = tag(out, said)
		}
	}
	return out
}
