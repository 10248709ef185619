package election

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Candidate is a LeaseCandidate from its creation to its deletion. One that is created
// again is another one.
type Candidate struct {
	facts *Facts
	// Name and Lease are <namespace>/<name>.
	Name, Lease string
	changes     []candidateChange
	gone        *fact.Stamp
}

type candidateChange struct {
	fact.Stamp
	now history.Candidate
}

func (f *Facts) observeCandidate(ev *history.Event) {
	s := ev.Stored
	name := strings.TrimPrefix(s.Key, candidatePrefix)
	c := f.standing[name]
	stamp := fact.StampOf(ev)
	switch {
	case s.Type == history.StoredDelete:
		if c != nil {
			c.gone = &stamp
			delete(f.standing, name)
		}
		return
	case s.Candidate == nil:
		return
	case c == nil:
		namespace, _, _ := strings.Cut(name, "/")
		c = &Candidate{facts: f, Name: name, Lease: namespace + "/" + s.Candidate.Lease}
		f.standing[name] = c
		f.candidates = append(f.candidates, c)
	}
	c.changes = append(c.changes, candidateChange{stamp, *s.Candidate})
	f.tells = f.tells || s.Candidate.Coordinator != ""
	f.noteStamp(s.Revision, f.Time(s.Candidate.Renewed), ev.At)
	f.noteStamp(s.Revision, f.Time(s.Candidate.Pinged), ev.At)
}

// own is a name without its namespace.
func own(name string) string { return name[strings.Index(name, "/")+1:] }

// Declared is when it was created.
func (c *Candidate) Declared() fact.Moment { return c.facts.When(c.changes[0].Stamp) }

// Gone is when it was deleted; nil if it exists at the end.
func (c *Candidate) Gone() *fact.Moment {
	if c.gone == nil {
		return nil
	}
	m := c.facts.When(*c.gone)
	return &m
}

// process is the one whose candidate it is: of those on its host, the one that had
// started last when it was declared. It is nil for candidates of no member.
func (c *Candidate) process() *fact.Process {
	return cached(c.facts, "process of "+c.Name+strconv.FormatInt(c.changes[0].Seq, 10), func() *fact.Process {
		member := c.facts.MemberOf(own(c.Name))
		if member == "" {
			return nil
		}
		return c.facts.LastProcess(member, componentOf(c.Lease), c.changes[0].At)
	})
}

// byHarness is whether the harness plays it.
func (c *Candidate) byHarness() bool { return fact.Harness(c.Name) }

// at is what it said before a revision; nil if it did not exist.
func (c *Candidate) at(revision int64) *candidateChange {
	if c.gone != nil && c.gone.Revision < revision {
		return nil
	}
	i, _ := slices.BinarySearchFunc(c.changes, revision, func(ch candidateChange, r int64) int {
		if ch.Revision < r {
			return -1
		}
		return 1
	})
	if i == 0 {
		return nil
	}
	return &c.changes[i-1]
}

// last is what it said last.
func (c *Candidate) last() *history.Candidate { return &c.changes[len(c.changes)-1].now }

// candidatesOf are the candidates of a Lease, in the order of their names.
func (f *Facts) candidatesOf(lease string) []*Candidate {
	return cached(f, "candidates of "+lease, func() []*Candidate {
		var out []*Candidate
		for _, c := range f.candidates {
			if c.Lease == lease {
				out = append(out, c)
			}
		}
		slices.SortStableFunc(out, func(a, b *Candidate) int { return strings.Compare(a.Name, b.Name) })
		return out
	})
}

// candidate is the one that a holder of a Lease was before a revision, and gone whether
// it had been deleted by then; nil if it never was one.
func (l *Lease) candidate(who string, revision int64) (found *Candidate, gone bool) {
	namespace, _, _ := strings.Cut(l.Key, "/")
	for _, c := range l.facts.candidatesOf(l.Key) {
		if c.Name == namespace+"/"+who && c.changes[0].Revision < revision {
			found = c
		}
	}
	return found, found != nil && found.gone != nil && found.gone.Revision < revision
}

// standingFor are the candidates of a Lease that existed before a revision.
func (l *Lease) standing(revision int64) []*Candidate {
	return slices.DeleteFunc(slices.Clone(l.facts.candidatesOf(l.Key)), func(c *Candidate) bool { return c.at(revision) == nil })
}

// expired is whether a candidate that says so counts no more at a time, since it has not
// renewed for as long as a coordinator goes by.
func (f *Facts) expired(c *history.Candidate, at int64) bool {
	return time.Duration(at-f.Time(c.Renewed)) > candidateValidity()
}

// answered is while it exists and owes no answer to a ping.
func (c *Candidate) answered() fact.Signal {
	return c.while(func(now *history.Candidate) bool { return now.Answered() })
}

// while is while it exists and says what fits.
func (c *Candidate) while(fits func(*history.Candidate) bool) fact.Signal {
	var b fact.Builder
	for i := range c.changes {
		b.Set(c.facts.When(c.changes[i].Stamp), fact.Of(fits(&c.changes[i].now)))
	}
	if gone := c.Gone(); gone != nil {
		b.Set(*gone, fact.No)
	}
	return b.Signal()
}

// valid is while it exists and has renewed lately enough to count.
func (c *Candidate) valid() fact.Signal {
	var b fact.Builder
	for i := range c.changes {
		ch := &c.changes[i]
		when := c.facts.When(ch.Stamp)
		until := c.facts.Time(ch.now.Renewed) + int64(candidateValidity())
		next := int64(fact.Forever)
		if i+1 < len(c.changes) {
			next = c.facts.When(c.changes[i+1].Stamp).Earliest
		} else if gone := c.Gone(); gone != nil {
			next = gone.Earliest
		}
		b.Set(when, fact.Of(until > when.Latest))
		if until > when.Latest && until < next {
			b.SetAt(until, fact.No)
		}
	}
	if gone := c.Gone(); gone != nil {
		b.Set(*gone, fact.No)
	}
	return b.Signal()
}

// Present is while it could answer: it exists and counts, and it is played by the harness
// or its process runs beside an API server that serves, with no fault at the member.
func (c *Candidate) Present() fact.Signal {
	return cached(c.facts, "present "+c.Name+strconv.FormatInt(c.changes[0].Seq, 10), func() fact.Signal {
		if c.byHarness() {
			return c.valid()
		}
		p := c.process()
		if p == nil {
			return fact.Constant(fact.No)
		}
		// What was declared before its process started is the candidate of another one.
		if c.Declared().Before(p.Started) == fact.Yes {
			return fact.Constant(fact.No)
		}
		return fact.And(c.valid(), p.Running(), c.facts.Alive(p.Member, history.ComponentAPIServer), fact.Not(c.facts.FaultAt(p.Member)))
	})
}

// Eligible is while a coordinator can elect it in time: it is present, the coordinator
// has had the time to know of it, and it answers pings as long as an election waits.
func (c *Candidate) Eligible() fact.Signal {
	return cached(c.facts, "eligible "+c.Name+strconv.FormatInt(c.changes[0].Seq, 10), func() fact.Signal {
		var known fact.Builder
		at := c.Declared()
		at.Earliest, at.Latest = at.Earliest+int64(knownAfter()), at.Latest+int64(knownAfter())
		known.Set(at, fact.Yes)
		return fact.And(c.Present(), known.Signal(), fact.Not(c.silent()))
	})
}

// silent is while it owes an answer that does not come as long as an election waits: no
// election in that time can count it among those that answered.
func (c *Candidate) silent() fact.Signal {
	var b fact.Builder
	for _, owed := range fact.Not(fact.Or(c.answered(), fact.Not(c.while(func(*history.Candidate) bool { return true })))).Spans(fact.Yes) {
		if min(owed.End, c.facts.Now)-owed.Begin <= int64(electionWaits()) {
			continue
		}
		b.SetAt(owed.Begin, fact.Yes)
		if owed.End < fact.Forever {
			b.SetAt(owed.End, fact.No)
		}
	}
	return b.Signal()
}

// someEligible is while any candidate of a Lease is eligible.
func (l *Lease) someEligible() fact.Signal {
	return cached(l.facts, "eligible for "+l.Key, func() fact.Signal {
		var signals []fact.Signal
		for _, c := range l.facts.candidatesOf(l.Key) {
			signals = append(signals, c.Eligible())
		}
		return fact.Or(signals...)
	})
}

// coordinating is while the coordinators' Lease is held by an API server that serves, with
// no fault at its member.
func (f *Facts) coordinating() fact.Signal {
	return cached(f, "coordinating", func() fact.Signal {
		l := f.leases[coordinators]
		if l == nil {
			return fact.Constant(fact.No)
		}
		var signals []fact.Signal
		for _, t := range l.tenures() {
			if member := f.MemberOf(t.Holder); member != "" {
				signals = append(signals, fact.And(t.held(), f.Alive(member, history.ComponentAPIServer), fact.Not(f.FaultAt(member))))
			}
		}
		return fact.Or(signals...)
	})
}

// electable is while nothing stands in the way of an election for a Lease: a candidate is
// eligible, a coordinator is active, and no fault is about the Lease.
func (l *Lease) electable() fact.Signal {
	return cached(l.facts, "electable "+l.Key, func() fact.Signal {
		return fact.And(l.someEligible(), l.facts.coordinating(), fact.Not(l.faulty()))
	})
}
