package election

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// Tenure is a stretch of time in which one holder has a Lease.
type Tenure struct {
	*Lease
	Holder, Member string
	// Taken and Lost are the changes with which the holder got and lost the Lease, and Last
	// is the one with which it wrote last; Lost is nil if it has it at the end.
	Taken, Lost, Last *Change
	renewals          []*Change
	// candidate that the holder is; nil if it is none.
	candidate *Candidate
	// before and next are the tenures before and after this one.
	before, next *Tenure
}

// tenures of a Lease in the order of time.
func (l *Lease) tenures() []*Tenure {
	return cached(l.Facts, "tenures", l, func() []*Tenure {
		var out []*Tenure
		var last *Tenure
		for _, c := range l.changes {
			if last != nil && last.Lost == nil {
				if holder(c.Now) == last.Holder {
					if c.Now.Renewed.After(c.Before.Renewed) {
						last.renewals, last.Last = append(last.renewals, c), c
					}
					continue
				}
				last.Lost = c
			}
			if who := holder(c.Now); who != "" {
				t := &Tenure{Lease: l, Holder: who, Member: l.MemberOf(who), Taken: c, Last: c, before: last}
				t.candidate, _ = l.candidate(who, c.Revision)
				if last != nil {
					last.next = t
				}
				out, last = append(out, t), t
			}
		}
		return out
	})
}

// Entry is an obligation of the holder.
func (t *Tenure) Entry() law.Entry {
	return law.Of(t.Key+" of "+t.Holder, t.Taken.When()).By(t.Member)
}

// Shown is whether the holder showed that it is there: it took the Lease itself, renewed
// it, or acted. A holder that was only named may be dead.
func (t *Tenure) Shown() bool {
	return !t.Taken.ByHarness() && (!t.Taken.ByCoordinator() ||
		slices.ContainsFunc(t.renewals, func(c *Change) bool { return !c.Marked() }) ||
		len(t.work()) > 0)
}

// mark is the change that told the holder to give way to another one; nil if none did.
func (t *Tenure) mark() *Change {
	for _, c := range t.changes {
		if c.Marked() && c.Now.Preferred != t.Holder && c.Revision > t.Taken.Revision && (t.next == nil || c.Revision < t.next.Taken.Revision) {
			return c
		}
	}
	return nil
}

// told is the change that told the holder that it leads no more: the mark, or else the loss of
// the Lease; nil if it lost it never.
func (t *Tenure) told() *Change {
	if mark := t.mark(); mark != nil && (t.Lost == nil || mark.Revision < t.Lost.Revision) {
		return mark
	}
	return t.Lost
}

// held is while a tenure lasts and the Lease has not expired.
func (t *Tenure) held() fact.Signal {
	said := append([]*Change{t.Taken}, t.renewals...)
	valid := unexpired(t.Facts, said, (*Change).When, func(c *Change) int64 { return c.expires().Latest })
	return fact.And(fact.Between(t.Taken.When(), t.Lost.moment()), valid)
}

// lasts is from the taking of the Lease to when another one took it.
func (t *Tenure) lasts() fact.Signal {
	if t.next == nil {
		return fact.From(t.Taken.When())
	}
	return fact.Between(t.Taken.When(), t.next.Taken.moment())
}

// moment is that of a change; nil if there is none.
func (c *Change) moment() *fact.Moment {
	if c == nil {
		return nil
	}
	m := c.When()
	return &m
}

// unexpired is while what was said last has not run out: from each moment to the time that
// it names, or to the next moment.
func unexpired[T any](f *Facts, said []T, when func(T) fact.Moment, until func(T) int64) fact.Signal {
	var b fact.Builder
	for i, one := range said {
		from, end := when(one), until(one)
		b.Set(from, fact.Of(end > from.Latest))
		if end > from.Latest && end < f.Now && (i+1 == len(said) || end < when(said[i+1]).Earliest) {
			b.SetAt(end, fact.No)
		}
	}
	return b.Signal()
}

// heldBy is while a holder has the Lease, in a tenure that fits, whose time has not run out.
func (l *Lease) heldBy(fits func(*Tenure) bool) fact.Signal {
	return fact.Or(fact.Each(fact.Where(l.tenures(), fits), (*Tenure).held)...)
}

// Held is while the Lease has any holder whose time has not run out, and Led while that
// holder showed, in this tenure, that it is there.
func (l *Lease) Held() fact.Signal {
	return cached(l.Facts, "held", l, func() fact.Signal { return l.heldBy(func(*Tenure) bool { return true }) })
}

// Led is while a holder has the Lease that shows in this tenure that it is there.
func (l *Lease) Led() fact.Signal {
	return cached(l.Facts, "led", l, func() fact.Signal { return l.heldBy((*Tenure).Shown) })
}

// takings are the moments at which holders took the Lease in tenures that fit.
func (l *Lease) takings(fits func(*Tenure) bool) []fact.Moment {
	return fact.Each(fact.Where(l.tenures(), fits), func(t *Tenure) fact.Moment { return t.Taken.When() })
}

// leaderEnds are the ends of processes that hold the Lease when they have ended, or of which that
// is not certain. A leader that may have ended a moment before its election does not lead either.
func (l *Lease) leaderEnds(held fact.Truth) []fact.Moment {
	var out []fact.Moment
	for _, p := range l.AllProcesses() {
		for _, t := range l.tenures() {
			if p.Exited != nil && p.Component == l.component() && t.Member == p.Member &&
				p.Started.Before(t.Taken.When()) != fact.No && t.held().At(p.Exited.Latest) == held {
				at := *p.Exited
				at.Earliest = min(max(at.Earliest, t.Taken.When().Latest+1), at.Latest)
				out = append(out, at)
			}
		}
	}
	return out
}

// deletedByHarness are deletions of the Lease by the harness, which make coordinators look
// at it anew.
func (l *Lease) deletedByHarness() []law.Void {
	deleted := fact.Where(l.changes, func(c *Change) bool { return c.Deleted() && c.ByHarness() })
	return law.Voids("the harness deleted the Lease, so that it was elected for anew", fact.Each(deleted, (*Change).When)...)
}

// mayNotNotice is whether one that lost the Lease may not have noticed by a moment that the
// harness took it, which it learns when it renews next. One that lost it otherwise knows.
func (l *Lease) mayNotNotice(who func(holder string) bool, revision int64, at fact.Moment) fact.Truth {
	for _, c := range slices.Backward(l.changes) {
		switch {
		case c.Revision >= revision || !who(holder(c.Before)) && !who(holder(c.Now)):
		case c.Forced():
			return within(c.When(), at, notion("noticesWithin"))
		default:
			return fact.No
		}
	}
	return fact.No
}
