package election

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Lease is a Lease by which a leader is elected, over the whole history.
type Lease struct {
	facts *Facts
	// Key is <namespace>/<name>.
	Key     string
	changes []*Change
	actions []*Action
}

// Change is a change of a Lease in etcd.
type Change struct {
	lease *Lease
	fact.Stamp
	// Now is nil where the Lease was deleted, and Before where it did not exist.
	Before, Now *history.Lease
	// last held it last before the change, if it was held; deletedSince is whether it was
	// deleted since then.
	last         string
	deletedSince bool
	previous     *Change
}

// holder of what a Lease says; empty for none.
func holder(l *history.Lease) string {
	if l == nil {
		return ""
	}
	return l.Holder
}

// When is the moment of the change.
func (c *Change) When() fact.Moment { return c.lease.facts.When(c.Stamp) }

// Taken is whether the Lease got a holder that it had not before.
func (c *Change) Taken() bool { return holder(c.Now) != "" && holder(c.Now) != holder(c.Before) }

// Released is whether its holder gave it up.
func (c *Change) Released() bool { return c.Now != nil && holder(c.Before) != "" && c.Now.Holder == "" }

// Marked is whether its holder was told to give it up for another one.
func (c *Change) Marked() bool {
	return c.Now != nil && c.Now.Preferred != "" && (c.Before == nil || c.Before.Preferred != c.Now.Preferred)
}

// Deleted is whether it was deleted.
func (c *Change) Deleted() bool { return c.Now == nil }

// ByHarness is whether the harness made the change by force, or tries fields out. What it
// does as a participant in elections is not by force.
func (c *Change) ByHarness() bool {
	return c.lease.facts.forced[c.Revision] == c.lease.Key || strings.HasPrefix(c.lease.Key, fieldProbes) || byForce(holder(c.Now))
}

// ByCoordinator is whether a coordinator wrote what the Lease says, and not an instance
// on its own account.
func (c *Change) ByCoordinator() bool {
	return c.Now != nil && c.Now.Strategy != "" && !c.ByHarness() && (!c.lease.facts.tells || c.Now.Coordinator != "")
}

// Elects is whether a coordinator elects a leader with the change.
func (c *Change) Elects() bool {
	return c.Taken() && c.ByCoordinator() && c.Now.Strategy == oldest && !c.byOwner()
}

// Early is how long before it expired the holder before lost the Lease: by the times that
// the two holders wrote into it, so that no recorder is in between. Where the change
// does not say when it was made, its moment bounds it.
func (c *Change) Early() time.Duration {
	f := c.lease.facts
	taken := c.When().Latest
	if c.Now != nil && !c.Now.Renewed.IsZero() && !c.Now.Renewed.Equal(c.Before.Renewed) {
		taken = f.Time(c.Now.Renewed)
	}
	return time.Duration(f.expires(c.Before) - taken)
}

// expires is when a Lease ends unless it is renewed, by the clock of its holder.
func (f *Facts) expires(l *history.Lease) int64 {
	return f.Time(l.Renewed) + int64(l.Duration)*int64(time.Second)
}

func (f *Facts) observeLease(ev *history.Event) {
	s := ev.Stored
	key := strings.TrimPrefix(s.Key, leasePrefix)
	l := f.leases[key]
	switch {
	case s.Lease != nil && s.Lease.Identity:
		return // no leader is elected by it
	case l == nil && s.Lease == nil:
		return
	case l == nil:
		l = &Lease{facts: f, Key: key}
		f.leases[key] = l
	}
	c := &Change{lease: l, Stamp: fact.StampOf(ev), Now: s.Lease}
	if n := len(l.changes); n > 0 {
		before := l.changes[n-1]
		c.previous, c.Before, c.last = before, before.Now, cmp.Or(holder(before.Now), before.last)
		c.deletedSince = before.Deleted() || before.deletedSince && holder(before.Now) == ""
	}
	l.changes = append(l.changes, c)
	if s.Lease != nil {
		f.tells = f.tells || s.Lease.Coordinator != ""
		f.noteStamp(s.Revision, f.Time(s.Lease.Renewed), ev.At)
	}
}

// Tenure is a stretch of time in which one holder has a Lease.
type Tenure struct {
	Lease  *Lease
	Holder string
	Taken  *Change
	// Lost is the change with which the holder lost it; nil if it has it at the end.
	Lost *Change
	// renewals are the changes with which it renewed the Lease.
	renewals []*Change
}

// tenures of a Lease in the order of time.
func (l *Lease) tenures() []*Tenure {
	return cached(l.facts, "tenures "+l.Key, func() []*Tenure {
		var out []*Tenure
		for _, c := range l.changes {
			if n := len(out); n > 0 && out[n-1].Lost == nil {
				if holder(c.Now) == out[n-1].Holder {
					if c.Now.Renewed.After(c.Before.Renewed) {
						out[n-1].renewals = append(out[n-1].renewals, c)
					}
					continue
				}
				out[n-1].Lost = c
			}
			if holder(c.Now) != "" {
				out = append(out, &Tenure{Lease: l, Holder: c.Now.Holder, Taken: c})
			}
		}
		return out
	})
}

// Shown is whether the holder showed that it is there: it took the Lease itself, renewed
// it, or acted. A holder that was only named may be dead.
func (t *Tenure) Shown() bool {
	if t.Taken.ByHarness() {
		return false
	}
	if !t.Taken.ByCoordinator() {
		return true
	}
	if slices.ContainsFunc(t.renewals, func(c *Change) bool { return !c.Marked() }) {
		return true
	}
	return slices.ContainsFunc(t.Lease.actions, func(a *Action) bool {
		return a.Holder == t.Holder && a.Revision > t.Taken.Revision && (t.Lost == nil || a.Revision < t.Lost.Revision)
	})
}

// held is while a tenure lasts and the Lease has not expired.
func (t *Tenure) held() fact.Signal {
	f := t.Lease.facts
	var b fact.Builder
	b.Set(t.Taken.When(), fact.Yes)
	expires := f.expires(t.Taken.Now)
	for _, c := range t.renewals {
		when := c.When()
		if expires < when.Earliest {
			b.SetAt(expires, fact.No)
			b.Set(when, fact.Yes)
		}
		expires = f.expires(c.Now)
	}
	if t.Lost != nil && t.Lost.When().Earliest <= expires {
		b.Set(t.Lost.When(), fact.No)
	} else if expires < f.Now {
		b.SetAt(expires, fact.No)
	}
	return b.Signal()
}

// Held is while a Lease has a holder whose time has not run out, and Led while that
// holder showed, in this tenure, that it is there.
func (l *Lease) Held() fact.Signal {
	return cached(l.facts, "held "+l.Key, func() fact.Signal { return l.whileTenure(func(*Tenure) bool { return true }) })
}

// Led is while a Lease is held by a leader that shows in this tenure that it is there.
func (l *Lease) Led() fact.Signal {
	return cached(l.facts, "led "+l.Key, func() fact.Signal { return l.whileTenure((*Tenure).Shown) })
}

func (l *Lease) whileTenure(fits func(*Tenure) bool) fact.Signal {
	var signals []fact.Signal
	for _, t := range l.tenures() {
		if fits(t) {
			signals = append(signals, t.held())
		}
	}
	return fact.Or(signals...)
}

// exists is while a Lease exists that fits.
func (l *Lease) exists(fits func(*history.Lease) bool) fact.Signal {
	var b fact.Builder
	for _, c := range l.changes {
		b.Set(c.When(), fact.Of(c.Now != nil && fits(c.Now)))
	}
	return b.Signal()
}

// at is the last change of a Lease before a revision; nil if there is none.
func (l *Lease) at(revision int64) *Change {
	i, _ := slices.BinarySearchFunc(l.changes, revision, func(c *Change, r int64) int { return cmp.Compare(c.Revision, r) })
	if i == 0 {
		return nil
	}
	return l.changes[i-1]
}

// faulty is while a fault keeps requests about a Lease from passing.
func (l *Lease) faulty() fact.Signal { return l.facts.FaultOn(leasePrefix + l.Key) }

// deletions are the deletions of a Lease that the harness asked for, and those that it did
// not.
func (l *Lease) deletions() (byHarness, others []*Change) {
	for _, c := range l.changes {
		switch {
		case !c.Deleted():
		case l.facts.deletedByHarness(l.Key, c.When()):
			byHarness = append(byHarness, c)
		default:
			others = append(others, c)
		}
	}
	return byHarness, others
}
