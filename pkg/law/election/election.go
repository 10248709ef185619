package election

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
)

// elections are the changes with which a coordinator elected a leader, in the order of
// the Leases' names.
func (f *Facts) elections() []*Change {
	var out []*Change
	for _, l := range f.sorted(func(*Lease) bool { return true }) {
		for _, c := range l.changes {
			if c.Elects() {
				out = append(out, c)
			}
		}
	}
	return out
}

// elected is the candidate that an election made the leader; nil if that is none, and gone
// whether it had been deleted before.
func (c *Change) elected() (who *Candidate, gone bool) {
	return c.lease.candidate(holder(c.Now), c.Revision)
}

// madeAt is when the writer of the change made it, by the time that it put into the Lease
// and else by its moment.
func (c *Change) madeAt() fact.Moment {
	if c.Now != nil && !c.Now.Renewed.IsZero() && (c.Before == nil || !c.Now.Renewed.Equal(c.Before.Renewed)) {
		return fact.Exactly(c.lease.facts.Time(c.Now.Renewed), c.Seq)
	}
	return c.When()
}

// renewedBefore is how long before an election a candidate had renewed last, at least.
func (c *Change) renewedBefore(k *Candidate) time.Duration {
	ch := k.at(c.Revision)
	return time.Duration(c.madeAt().Earliest - c.lease.facts.Time(ch.now.Renewed))
}

// tookPart is whether another candidate certainly took part in an election: it answered
// soon after it was asked, or renewed a moment before, and the coordinator knew of it.
func (c *Change) tookPart(k *Candidate) bool {
	f, ch := c.lease.facts, k.at(c.Revision)
	if ch == nil || !ch.now.Answered() || f.expired(&ch.now, c.At) {
		return false
	}
	known, _ := k.Declared().Until(c.When())
	if known < knownAfter() || c.renewedBefore(k) > answeredWithin() {
		return false
	}
	took := ch.now.Renewed.Sub(ch.now.Pinged)
	if ch.now.Pinged.IsZero() {
		took = c.renewedBefore(k)
	}
	// The answer has to reach the coordinator while it waits, whatever its watch takes.
	return took < certainlyAnswered()
}

var (
	// answeredWithin is how long before an election its winner may have answered.
	answeredWithin = notion("answeredWithin")
	// certainlyAnswered is within which time after its ping an answer certainly reaches a
	// coordinator that waits for it.
	certainlyAnswered = notion("certainlyAnswered")
)
