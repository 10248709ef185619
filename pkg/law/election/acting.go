package election

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// succession is an action of a leader after an action of another one.
type succession struct {
	lease *Lease
	now   *Action
	// before is the action of the leader that took the Lease last of those that had acted.
	before *Action
	// taken and takenBefore are the revisions at which the two took the Lease; taken is 0
	// for one that never did.
	taken, takenBefore int64
	// deleted is the last deletion of the Lease before the action; nil if there was none.
	deleted *Change
}

// successions of all Leases: each action of one that is not the last to have acted.
func (f *Facts) successions() []*succession {
	return cached(f, "successions", func() []*succession {
		var out []*succession
		for _, l := range f.sorted(func(l *Lease) bool { return len(l.actions) > 0 }) {
			out = append(out, l.successions()...)
		}
		return out
	})
}

func (l *Lease) successions() []*succession {
	var out []*succession
	var front *Action
	frontTaken := int64(0)
	deletions := 0
	var deleted *Change
	for _, a := range l.actions {
		for ; deletions < len(l.changes) && l.changes[deletions].Revision < a.Revision; deletions++ {
			if l.changes[deletions].Deleted() {
				// It lets every holder go at once; what follows is no breach of those that lead.
				front, deleted = nil, l.changes[deletions]
			}
		}
		taken := l.takenBy(a.Holder, a.Revision)
		if front != nil && front.Holder != a.Holder || taken == 0 {
			out = append(out, &succession{lease: l, now: a, before: front, taken: taken, takenBefore: frontTaken, deleted: deleted})
		}
		if taken > 0 && taken >= frontTaken || taken > 0 && front == nil {
			front, frontTaken = a, taken
		}
	}
	return out
}

// alone is whether only the leader acts: it took the Lease after every other one that had
// acted before, and it had it at all. The order of etcd decides, and no clock.
func (s *succession) alone() fact.Truth {
	if s.taken > 0 {
		if s.before == nil || s.taken >= s.takenBefore {
			return fact.Yes
		}
		return s.mayNotice()
	}
	// It never had the Lease: a breach where another one had it then.
	c := s.lease.at(s.now.Revision)
	if c == nil || holder(c.Now) == "" || holder(c.Now) == s.now.Holder {
		return fact.Unknown
	}
	if s.lease.facts.When(s.now.Stamp).Latest < s.lease.facts.expires(c.Now) {
		return fact.No
	}
	return fact.Unknown
}

// excuse is why a leader that acts beside another one proves nothing: the harness deleted
// its Lease a moment ago, which it learns when it renews next.
func (s *succession) excuse() string {
	if s.mayNotice() == fact.Yes {
		return "the harness had deleted its Lease a moment before"
	}
	return ""
}

// mayNotice is whether the leader may not have noticed so far that the harness deleted its
// Lease.
func (s *succession) mayNotice() fact.Truth {
	f := s.lease.facts
	if s.deleted == nil || s.taken == 0 || s.taken > s.deleted.Revision || !f.deletedByHarness(s.lease.Key, s.deleted.When()) {
		return fact.No
	}
	return within(s.deleted.When(), f.When(s.now.Stamp), noticesWithin())
}

// within is whether a moment comes no later after another one than a bound.
func within(before, after fact.Moment, bound time.Duration) fact.Truth {
	switch least, most := before.Until(after); {
	case most <= bound:
		return fact.Yes
	case least > bound:
		return fact.No
	}
	return fact.Unknown
}

// follows is whether the leader took over from another one that had acted.
func (s *succession) follows() bool {
	return s.before != nil && s.taken >= s.takenBefore && s.taken > 0
}

func (s *succession) entry() law.Entry {
	e := law.Entry{About: s.lease.Key, Member: s.lease.facts.MemberOf(s.now.Holder), Began: s.lease.facts.When(s.now.Stamp)}
	if s.deleted != nil {
		e.Through = s.lease.facts.asked(s.deleted.When())
	}
	return e
}

// outlived is whether the leader before was alive and could not renew when another one
// began to act.
func (s *succession) outlived() bool {
	f := s.lease.facts
	member := f.MemberOf(s.before.Holder)
	at := f.When(s.now.Stamp)
	p := f.LastProcess(member, componentOf(s.lease.Key), at.Latest)
	return p != nil && p.Lived(at) == fact.Yes && p.Started.Latest < s.before.At &&
		(p.Paused().During(at) == fact.Yes || f.FaultAt(member).During(at) == fact.Yes)
}

// took is in words how long an action was after another moment.
func took(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }
