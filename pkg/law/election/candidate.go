package election

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// Candidate is a LeaseCandidate from its creation to its deletion. One that is created
// again is another one.
type Candidate struct {
	*Facts
	// Name is <namespace>/<name>.
	Name string
	For  *Lease
	// created is the revision that created it.
	created int64
	said    []*statement
	gone    *fact.Stamp
}

// statement is what a candidate says from a change of it on.
type statement struct {
	fact.Stamp
	history.Candidate
	// asked is whether it was pinged with the change, and renewed whether it renewed.
	asked, renewed bool
}

func (f *Facts) observeCandidate(ev *history.Event) {
	s, name, stamp := ev.Stored, strings.TrimPrefix(ev.Stored.Key, candidatePrefix), fact.StampOf(ev)
	k := f.standing[name]
	if s.Type == history.StoredDelete {
		if k != nil {
			k.gone = &stamp
			delete(f.standing, name)
			f.moves = append(f.moves, ev.At)
		}
		return
	}
	if s.Candidate == nil {
		return
	}
	now := &statement{stamp, *s.Candidate, !s.Candidate.Pinged.IsZero(), true}
	if k == nil {
		namespace, _, _ := strings.Cut(name, "/")
		k = &Candidate{Facts: f, Name: name, For: f.lease(namespace + "/" + s.Candidate.Lease), created: s.Created}
		k.For.candidates = append(k.For.candidates, k)
		slices.SortStableFunc(k.For.candidates, func(a, b *Candidate) int { return strings.Compare(a.Name, b.Name) })
		f.standing[name], f.declared, f.moves = k, append(f.declared, k), append(f.moves, ev.At)
	} else {
		before := k.last()
		now.asked = now.asked && !now.Pinged.Equal(before.Pinged)
		now.renewed = !now.Renewed.Equal(before.Renewed)
	}
	k.said = append(k.said, now)
	f.tells = f.tells || s.Candidate.Coordinator != ""
}

// own is a name without its namespace.
func own(name string) string { return name[strings.Index(name, "/")+1:] }

// candidates give those that fit, in the order in which they were created.
func candidates(fits func(*Candidate) bool) func(*Facts) []*Candidate {
	return func(f *Facts) []*Candidate { return fact.Where(f.declared, fits) }
}

func anyCandidate(*Candidate) bool { return true }

// ofMember is whether it is the candidate of a process of a member.
func (k *Candidate) ofMember() bool { return k.process() != nil }

// Entry is an obligation of the candidate.
func (k *Candidate) Entry() law.Entry {
	e := law.Of(k.Name, k.Declared())
	if p := k.process(); p != nil {
		e = e.By(p.Member)
	}
	return e
}

// when is the moment of a statement, Declared of the first one.
func (k *Candidate) when(s *statement) fact.Moment { return k.When(s.Stamp) }

// Declared is when it was created.
func (k *Candidate) Declared() fact.Moment { return k.when(k.said[0]) }

// Gone is when it was deleted; nil if it exists at the end.
func (k *Candidate) Gone() *fact.Moment {
	if k.gone == nil {
		return nil
	}
	m := k.When(*k.gone)
	return &m
}

// process is the one whose candidate it is: of those on its host, the one that had
// started last when it was declared. It is nil for candidates of no member, and of a process
// that had gone before the history began.
func (k *Candidate) process() *fact.Process {
	return cached(k.Facts, "process", k, func() *fact.Process {
		if k.outlived() {
			return nil
		}
		return k.LastProcess(k.MemberOf(own(k.Name)), k.For.component(), k.Declared().Latest)
	})
}

// made is when a statement with which the candidate renewed was made: not before the time that it
// names, as far as the clocks of two nodes agree.
func (k *Candidate) made(s *statement) fact.Moment {
	m := k.when(s)
	if at := k.Time(s.Renewed) - int64(notion("clocksApart")); at <= m.Latest {
		m.Earliest = max(m.Earliest, at)
	}
	return m
}

// writer is the process that made a statement with which the candidate renewed: the one that had
// started last, which keeps the candidate of the process before where the two have one name. It is
// not certain where the process before may have lived yet, unless that had declared another one.
func (k *Candidate) writer(s *statement) (p *fact.Process, certain bool) {
	of := k.process()
	if s != k.said[0] && of != nil {
		of = k.LastProcess(of.Member, of.Component, k.when(s).Latest)
	}
	if of == nil || of.Before == nil || of.Before.Exited != nil && of.Before.Exited.Latest < k.made(s).Earliest {
		return of, true
	}
	return of, s == k.said[0] && slices.ContainsFunc(k.For.candidates, func(other *Candidate) bool { return other != k && other.process() == of.Before })
}

// keptBy is whether a process goes on with the candidate of one before it: it certainly renewed it.
func (k *Candidate) keptBy(p *fact.Process) bool {
	return k.process() != nil && k.process() != p && slices.ContainsFunc(k.said, func(s *statement) bool { return k.renewedBy(p, s) })
}

// renewedBy is whether the candidate renewed with a statement that certainly is of a process.
func (k *Candidate) renewedBy(p *fact.Process, s *statement) bool {
	by, certain := k.writer(s)
	return s.renewed && by == p && certain
}

// first is the statement from which on the candidate certainly is that of a process: the one that
// declared it, or the first with which that renewed it; nil if it never is.
func (k *Candidate) first(p *fact.Process) *statement {
	if k.process() == p {
		return k.said[0]
	}
	if i := slices.IndexFunc(k.said, func(s *statement) bool { return k.renewedBy(p, s) }); i >= 0 {
		return k.said[i]
	}
	return nil
}

// of is the process whose candidate it certainly was last at a revision.
func (k *Candidate) of(revision int64) *fact.Process {
	for _, p := range slices.Backward(k.keepers()) {
		if s := k.first(p); s != nil && s.Revision <= revision {
			return p
		}
	}
	return k.process()
}

// keepers are the processes that may go on with the candidate of one before them: where its name
// tells no process from another, or any of them certainly went on with it, those after its own that
// declare none.
func (k *Candidate) keepers() []*fact.Process {
	return cached(k.Facts, "keepers", k, func() (out []*fact.Process) {
		of := k.process()
		if of == nil {
			return nil
		}
		kept := history.Host(own(k.Name)) == own(k.Name)
		for p := of.After; p != nil; p = p.After {
			kept = kept || k.keptBy(p)
			declares := func(other *Candidate) bool { return other.process() == p }
			if k.stands().During(p.Started) != fact.No && !p.Without(history.FeatureCoordination) && !slices.ContainsFunc(k.For.candidates, declares) {
				out = append(out, p)
			}
		}
		if !kept {
			return nil
		}
		return out
	})
}

// running is while a process runs whose candidate it is.
func (k *Candidate) running() fact.Signal {
	return fact.Or(k.process().Running(), fact.Or(fact.Each(k.keepers(), func(p *fact.Process) fact.Signal {
		if k.keptBy(p) {
			return p.Running()
		}
		return fact.And(p.Running(), fact.Constant(fact.Unknown))
	})...))
}

// outlived is whether it was there before the history began, and so was a later one of the
// same component and host: candidates stay for half an hour after their processes have ended.
func (k *Candidate) outlived() bool {
	member := k.MemberOf(own(k.Name))
	return k.Declared().Given() && slices.ContainsFunc(k.For.candidates, func(other *Candidate) bool {
		return other.Declared().Given() && other.created > k.created && other.MemberOf(own(other.Name)) == member
	})
}

// at is what it said last up to a revision, whether it exists then or not; nil if it had
// said nothing.
func (k *Candidate) at(revision int64) *statement {
	if i := fact.Last(k.said, revision, func(s *statement) int64 { return s.Revision }); i >= 0 {
		return k.said[i]
	}
	return nil
}

// last is what it said last.
func (k *Candidate) last() *statement { return k.said[len(k.said)-1] }

// exists is whether it exists at a revision.
func (k *Candidate) exists(revision int64) bool {
	return k.at(revision) != nil && (k.gone == nil || k.gone.Revision > revision)
}

// standing are the candidates of a Lease that exist at a revision.
func (l *Lease) standing(revision int64) []*Candidate {
	return fact.Where(l.candidates, func(k *Candidate) bool { return k.exists(revision) })
}

// candidate is the one that a holder of the Lease was at a revision, and gone whether it had
// been deleted by then; nil if it never was one.
func (l *Lease) candidate(who string, revision int64) (found *Candidate, gone bool) {
	namespace, _, _ := strings.Cut(l.Key, "/")
	for _, k := range l.candidates {
		if k.Name == namespace+"/"+who && k.at(revision) != nil {
			found = k
		}
	}
	return found, found != nil && !found.exists(revision)
}

// expired is whether a candidate that says so counts no more at a time, since it has not
// renewed for as long as a coordinator goes by.
func (f *Facts) expired(s *statement, at int64) bool {
	return time.Duration(at-f.Time(s.Renewed)) > notion("candidateValidity")
}

// stands is while it exists, and answered while it owes no answer to a ping as well.
func (k *Candidate) stands() fact.Signal { return fact.Between(k.Declared(), k.Gone()) }

func (k *Candidate) answered() fact.Signal {
	return fact.And(k.stands(), fact.Follow(k.said, k.when, func(s *statement) bool { return s.Answered() }))
}

// Present is while it exists and has renewed lately enough to count, and could answer: its
// process runs beside an API server that is up. The harness answers for what it plays.
func (k *Candidate) Present() fact.Signal {
	return cached(k.Facts, "present", k, func() fact.Signal {
		until := func(s *statement) int64 { return k.Time(s.Renewed) + int64(notion("candidateValidity")) }
		present := fact.And(k.stands(), unexpired(k.Facts, k.said, k.when, until))
		if p := k.process(); p != nil {
			return fact.And(present, k.running(), k.Up(p.Member))
		}
		return fact.And(present, fact.Constant(fact.Of(fact.Harness(k.Name))))
	})
}

// Eligible is while a coordinator can elect it in time: it is present, the coordinator
// has had the time to know of it, and it answers pings as long as an election waits.
func (k *Candidate) Eligible() fact.Signal {
	return cached(k.Facts, "eligible", k, func() fact.Signal {
		known := k.Declared()
		known.Earliest, known.Latest = known.Earliest+int64(notion("knownAfter")), known.Latest+int64(notion("knownAfter"))
		return fact.And(k.Present(), fact.From(known), fact.Not(k.silent()))
	})
}

// silent is while it owes an answer that does not come as long as an election waits: no
// election in that time can count it among those that answered.
func (k *Candidate) silent() fact.Signal {
	owes := fact.And(k.stands(), fact.Not(k.answered()))
	long := func(s fact.Span) bool { return min(s.End, k.Now)-s.Begin > int64(notion("electionWaits")) }
	during := func(s fact.Span) fact.Signal {
		end := fact.Exactly(s.End, 0)
		return fact.Between(fact.Exactly(s.Begin, 0), &end)
	}
	maybe := fact.Or(fact.Each(fact.Where(owes.Spans(fact.Unknown), long), during)...)
	return fact.Or(fact.And(maybe, fact.Constant(fact.Unknown)), fact.Or(fact.Each(fact.Where(owes.Spans(fact.Yes), long), during)...))
}

// someEligible is while any candidate of a Lease is eligible, and etcd can write.
func (l *Lease) someEligible() fact.Signal {
	return cached(l.Facts, "eligible", l, func() fact.Signal {
		return fact.And(l.writable(), fact.Or(fact.Each(l.candidates, (*Candidate).Eligible)...))
	})
}

// coordinating is while the coordinators' Lease is held by an API server that is up, and etcd
// can write.
func (f *Facts) coordinating() fact.Signal {
	return cached(f, "coordinating", nil, func() fact.Signal {
		return fact.And(f.writable(), fact.Or(fact.Each(tenures((*Lease).isCoordinators)(f), func(t *Tenure) fact.Signal { return fact.And(t.held(), f.Up(t.Member)) })...))
	})
}

// coordinatorGone is while the coordinators' Lease is held by what is no API server that is up: no
// server can take it until it runs out.
func (f *Facts) coordinatorGone() fact.Signal {
	return fact.Or(fact.Each(tenures((*Lease).isCoordinators)(f), func(t *Tenure) fact.Signal { return fact.And(t.held(), fact.Not(f.Up(t.Member))) })...)
}

// electable is while nothing stands in the way of an election for a Lease: a candidate is
// eligible, a coordinator is active, and no fault is about the Lease.
func (l *Lease) electable() fact.Signal {
	return cached(l.Facts, "electable", l, func() fact.Signal {
		return fact.And(l.someEligible(), l.coordinating(), fact.Not(l.faulty()))
	})
}
