package election

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// Lease is a Lease by which a leader is elected, over the whole history.
type Lease struct {
	*Facts
	// Key is <namespace>/<name>.
	Key     string
	changes []*Change
	// candidates are those that ever stood for it, in the order of their names.
	candidates []*Candidate
	// actions are those of its leaders, and acted is the last one of each.
	actions []*Action
	acted   map[string]*Action
}

// Entry is an obligation about the Lease.
func (l *Lease) Entry() law.Entry { return law.Entry{About: l.Key} }

// there is whether the Lease ever existed.
func (l *Lease) there() bool { return len(l.changes) > 0 }

// isCoordinators is whether it is the one of the coordinators.
func (l *Lease) isCoordinators() bool { return l.Key == coordinators }

// ofComponent is whether instances of the members stand for it.
func (l *Lease) ofComponent() bool { return slices.ContainsFunc(l.candidates, (*Candidate).ofMember) }

// tellsActions is whether its leaders tell what they do.
func (l *Lease) tellsActions() bool { return len(l.actions) > 0 }

// hasCandidates is whether any candidate ever stood for it, and not only those of foreign programs.
func (l *Lease) hasCandidates() bool { return len(l.candidates) > 0 && !l.foreign() }

// isElected is whether all that stand for it at a revision want what coordinators elect by.
func (l *Lease) isElected(revision int64) bool {
	return !slices.ContainsFunc(l.standing(revision), func(k *Candidate) bool { return k.at(revision).Strategy != oldest })
}

// electing is while all that stand for it want what coordinators elect by, and coordinators
// have had the time to know so.
func (l *Lease) electing() fact.Signal {
	return cached(l.Facts, "electing", l, func() fact.Signal {
		other := fact.Follow(l.moments(), func(m fact.Moment) fact.Moment { return m }, func(m fact.Moment) bool { return !l.isElected(m.Revision) })
		return fact.Not(other).Warm(int64(notion("knownAfter")))
	})
}

// electedOtherwise are the takings of the Lease while a candidate wanted another strategy.
func (l *Lease) electedOtherwise() []law.Void {
	return law.Voids("a candidate wanted another strategy when the Lease was taken",
		l.takings(func(t *Tenure) bool { return !l.isElected(t.Taken.Revision) })...)
}

// isEnrolled is whether any instance ever stood for it, it ever named a strategy, or it is
// the coordinators'.
func (l *Lease) isEnrolled() bool {
	return cached(l.Facts, "enrolled", l, func() bool {
		return l.isCoordinators() || len(l.candidates) > 0 || slices.ContainsFunc(l.changes, func(c *Change) bool { return !c.Deleted() && c.Now.Strategy != "" })
	})
}

// component is the one whose instances lead by it. The scheduler has its own Lease, and so
// have API servers; all others are led by what the controller managers run.
func (l *Lease) component() string {
	switch l.Key {
	case scheduler:
		return history.ComponentScheduler
	case coordinators:
		return history.ComponentAPIServer
	}
	return history.ComponentControllerManager
}

// at is the last change up to a revision; nil if there is none.
func (l *Lease) at(revision int64) *Change {
	if i := fact.Last(l.changes, revision, func(c *Change) int64 { return c.Revision }); i >= 0 {
		return l.changes[i]
	}
	return nil
}

// faulty is while a fault keeps requests about the Lease from passing.
func (l *Lease) faulty() fact.Signal { return l.FaultOn(leasePrefix + l.Key) }

// coordinatorsFaulty is while a fault keeps requests about the coordinators' Lease from passing.
func (f *Facts) coordinatorsFaulty() fact.Signal { return f.FaultOn(leasePrefix + coordinators) }

// Change is a change of a Lease in etcd.
type Change struct {
	*Lease
	fact.Stamp
	// Now is nil where the Lease was deleted, and Before where it did not exist.
	Before, Now *history.Lease
	previous    *Change
	// last held it last before the change, if it was held; deletedSince is whether it was
	// deleted since then, and deletion is the revision of the last one that did so by then.
	last         string
	deletedSince bool
	deletion     int64
}

func (f *Facts) observeLease(ev *history.Event) {
	s, key := ev.Stored, strings.TrimPrefix(ev.Stored.Key, leasePrefix)
	if s.Lease == nil && (f.leases[key] == nil || !f.leases[key].there()) || s.Lease != nil && s.Lease.Identity {
		return // what is deleted was never seen, or no leader is elected by it
	}
	l := f.lease(key)
	c := &Change{Lease: l, Stamp: fact.StampOf(ev), Now: s.Lease}
	if l.there() {
		before := l.changes[len(l.changes)-1]
		c.previous, c.Before, c.last, c.deletion = before, before.Now, cmp.Or(holder(before.Now), before.last), before.deletion
		c.deletedSince = before.Deleted() || before.deletedSince && holder(before.Now) == ""
	}
	if c.Deleted() {
		c.deletion = c.Revision
	}
	l.changes = append(l.changes, c)
	f.tells = f.tells || s.Lease != nil && s.Lease.Coordinator != ""
}

// holder of what a Lease says; empty for none.
func holder(l *history.Lease) string {
	if l == nil {
		return ""
	}
	return l.Holder
}

// Entry is an obligation about the change. That the harness asked for a deletion may show
// only when its request is over.
func (c *Change) Entry() law.Entry {
	e := law.Of(c.Key, c.When()).By(c.MemberOf(holder(c.Now))).Shown(c.Seq)
	if c.previous != nil {
		e = e.Shown(c.previous.Seq, c.Seq)
	}
	if c.Deleted() {
		e = e.Unless(c.Evidence(c.When().Latest + int64(notion("requestsEndWithin"))))
	}
	return e
}

// When is the moment of the change.
func (c *Change) When() fact.Moment { return c.Facts.When(c.Stamp) }

// madeAt is when the writer of the change made it, by the time that it put into the Lease
// and else by its moment.
func (c *Change) madeAt() fact.Moment {
	if c.Now != nil && !c.Now.Renewed.IsZero() && (c.Before == nil || !c.Now.Renewed.Equal(c.Before.Renewed)) {
		return fact.Exactly(c.Time(c.Now.Renewed), c.Seq)
	}
	return c.When()
}

// Taken is whether the Lease got a holder that it had not before.
func (c *Change) Taken() bool { return holder(c.Now) != "" && holder(c.Now) != holder(c.Before) }

// knows is whether a coordinator that made the change had had the time to know of a candidate.
func (c *Change) knows(k *Candidate) fact.Truth {
	return within(k.Declared(), c.When(), notion("knownAfter")-1).Not()
}

// Released is whether its holder gave it up.
func (c *Change) Released() bool { return c.Now != nil && holder(c.Before) != "" && c.Now.Holder == "" }

// givenUpByAnother is whether another instance of its component took the holder out of the Lease.
func (c *Change) givenUpByAnother() bool {
	by, held := "", ""
	if c.Released() && c.renews() {
		by, held = c.MemberOf(c.Now.Renewer), c.MemberOf(c.Before.Holder)
	}
	return by != "" && held != "" && by != held
}

// emptied is in words how the Lease came to have no holder, other than by its holder; empty
// where that is not so.
func (c *Change) emptied() string {
	switch {
	case c.Deleted():
		return c.Key + " was deleted, which the harness had not asked for,"
	case c.givenUpByAnother():
		return "the instance of " + c.MemberOf(c.Now.Renewer) + " gave up " + c.Key + ", which " + c.Before.Holder + " had,"
	}
	return ""
}

// Marked is whether its holder was told to give it up for another one.
func (c *Change) Marked() bool {
	return c.Now != nil && c.Now.Preferred != "" && (c.Before == nil || c.Before.Preferred != c.Now.Preferred)
}

// Deleted is whether it was deleted.
func (c *Change) Deleted() bool { return c.Now == nil }

// moves is whether the Lease goes from one holder to another, or is to.
func (c *Change) moves() bool { return c.Deleted() || c.Taken() || c.Marked() || c.Released() }

// Forced is whether the harness took the Lease from its holder.
func (c *Change) Forced() bool {
	return c.Taken() && byForce(c.Now.Holder) || c.Deleted() && c.ByHarness()
}

// byForce is whether the harness put a holder there that no component is.
func byForce(holder string) bool {
	return holder == history.AbsentHolder || holder == history.ThirdPartyHolder
}

// ByHarness is whether the harness made the change by force, or tries fields out. What it
// does as a participant in elections is not by force.
func (c *Change) ByHarness() bool {
	if c.Deleted() {
		return slices.ContainsFunc(c.requests, func(r *fact.Asked) bool {
			sent, at := c.Facts.When(r.Stamp), c.When()
			return r.Verb == "delete" && r.Resource == "leases" && r.Name == c.Key && r.Took() != fact.No &&
				sent.Earliest <= at.Latest && at.Earliest <= sent.Latest
		})
	}
	if strings.HasPrefix(c.Key, fieldProbes) || byForce(c.Now.Holder) {
		return true
	}
	r := c.made[c.Revision]
	return r != nil && r.Name == c.Key && slices.Contains([]string{history.ElectionMalformed, history.ElectionAbsentHolder, history.ElectionAssign}, r.Election)
}

// ByCoordinator is whether a coordinator wrote what the Lease says, and not an instance
// on its own account.
func (c *Change) ByCoordinator() bool {
	return !c.Deleted() && c.Now.Strategy != "" && !c.ByHarness() && (!c.tells || c.Now.Coordinator != "")
}

// renews is whether the change says that the Lease was renewed, or its holder is another one.
func (c *Change) renews() bool {
	return c.Before == nil || !c.Now.Renewed.Equal(c.Before.Renewed) || c.Taken()
}

// claim is the last change before by which the Lease had a holder for some time: that holder
// renewed it, or the harness wrote it. What another one writes into the Lease meanwhile, a
// shorter time or no holder, takes nothing from the claim. It is nil where the holder gave the
// Lease up, which renews it for the last time, and where the Lease was deleted.
func (c *Change) claim() *Change {
	for p := c.previous; p != nil && !p.Deleted(); p = p.previous {
		switch byHarness := p.ByHarness() || p.made[p.Revision] != nil; {
		case p.Released() && (byHarness || p.renews()):
			return nil
		case holder(p.Now) != "" && (byHarness || p.renews()):
			return p
		}
	}
	return nil
}

// early is whether the holder before lost the Lease before it expired, by the times that the
// two holders wrote into it. The clocks of the two may be apart, and one that is ahead has no
// Lease expire: what is written was made by then. Who took the holder out of the Lease without
// a renewal does not show: it may have been the holder.
func (c *Change) early() fact.Truth {
	claim := c.claim()
	if claim == nil {
		return fact.No
	}
	expired, made := claim.expires(), c.madeAt()
	expired.Earliest -= int64(notion("clocksApart"))
	expired.Latest = max(expired.Latest-int64(notion("clocksApart")), expired.Earliest)
	if when := c.When(); made.Latest > when.Latest {
		made = when
	}
	early := made.Before(expired)
	if holder(c.Before) == "" {
		return min(early, fact.Unknown)
	}
	return early
}

// earlyBy is in words how long before it expired the Lease was lost.
func (c *Change) earlyBy() string {
	return fmt.Sprintf("%s before it expired", time.Duration(c.claim().expires().Latest-min(c.madeAt().Latest, c.When().Latest)).Round(time.Millisecond))
}

// expires is when the Lease ends unless it is renewed, by the clock of its holder. A holder
// whose clock is ahead writes a renewTime that is still to come: others, which count from when
// they see the write, have to wait no longer than from then on.
func (c *Change) expires() fact.Moment {
	lasts := int64(c.Now.Duration) * int64(time.Second)
	if at := c.Time(c.Now.Renewed); at <= c.When().Latest {
		return fact.Exactly(at+lasts, c.Seq)
	}
	when := c.When()
	return fact.Moment{Earliest: when.Earliest + lasts, Latest: when.Latest + lasts, Seq: c.Seq}
}

// Foreign Leases and candidates are those of programs that are neither a member's nor the
// harness's. What such a program does with its own Lease is its business: a controller
// deletes its Lease when it ends, and may know a strategy of its own. What a coordinator
// does with it is judged like anything else of a coordinator's.

// foreign is whether only foreign programs ever held the Lease or stood for it.
func (l *Lease) foreign() bool {
	return cached(l.Facts, "foreign", l, func() bool {
		names := fact.Each(l.candidates, func(k *Candidate) string { return own(k.Name) })
		for _, c := range l.changes {
			if who := holder(c.Now); who != "" {
				names = append(names, who)
			}
		}
		return len(names) > 0 && !l.isCoordinators() && !fact.Harness(l.Key) && !slices.ContainsFunc(names, func(name string) bool {
			return l.MemberOf(name) != "" || fact.Harness(name) || byForce(name)
		})
	})
}

// byOwner is whether the change is of a foreign Lease, and may be its owner's: a
// coordinator that tells who it is in what it writes did not make it.
func (c *Change) byOwner() bool {
	return c.foreign() && (!c.tells || c.Now == nil || c.Now.Coordinator == "")
}
