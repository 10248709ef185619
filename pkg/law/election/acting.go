package election

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// Action is one action of a leader, as the object says that it wrote to.
type Action struct {
	history.LeaderAction
	fact.Stamp
}

func (f *Facts) observeAction(ev *history.Event) {
	a := &Action{*ev.Stored.LeaderAction, fact.StampOf(ev)}
	l := f.leases[a.Lease]
	if l == nil {
		return
	}
	if a.Holder == "" {
		// One that never had the Lease is known by no other name than its host's.
		a.Holder = cmp.Or(l.lastOn(a.Host), a.Host)
	}
	if before := l.acted[a.Holder]; before != nil && before.LeaderAction == a.LeaderAction {
		return // another client wrote to the object
	}
	l.actions, l.acted[a.Holder] = append(l.actions, a), a
}

// lastOn is the holder that took the Lease last of those on a host; empty if none did.
func (l *Lease) lastOn(host string) string {
	for _, c := range slices.Backward(l.changes) {
		if who := holder(c.Now); who != "" && history.Host(who) == host {
			return who
		}
	}
	return ""
}

// tenureOf is the last tenure of a holder that began before a revision; nil if there is none.
func (l *Lease) tenureOf(who string, revision int64) *Tenure {
	for _, t := range slices.Backward(l.tenures()) {
		if t.Holder == who && t.Taken.Revision < revision {
			return t
		}
	}
	return nil
}

// succession is an action of a leader after an action of another one.
type succession struct {
	*Lease
	// now is the action, and before the one of the leader that took the Lease last of those
	// that had acted; nil if none had.
	now, before *Action
	// by and byBefore are the tenures of the two; by is nil for one that never had the Lease.
	by, byBefore *Tenure
}

// successions of all Leases: each action of one that is not the last to have acted, or that has
// lost the Lease before.
func (f *Facts) successions() []*succession {
	return cached(f, "successions", nil, func() []*succession {
		var out []*succession
		for _, l := range leases((*Lease).tellsActions)(f) {
			out = append(out, l.successions()...)
		}
		return out
	})
}

func (l *Lease) successions() []*succession {
	var out []*succession
	var last *Action
	var lastBy *Tenure
	for _, a := range l.actions {
		if c := l.at(a.Revision); last != nil && c != nil && c.deletion > last.Revision {
			last, lastBy = nil, nil // a deletion lets every holder go at once
		}
		by := l.tenureOf(a.Holder, a.Revision)
		if by == nil || last != nil && last.Holder != a.Holder || by.worksOn(a) != fact.No {
			out = append(out, &succession{l, a, last, by, lastBy})
		}
		if by != nil && (lastBy == nil || by.Taken.Revision >= lastBy.Taken.Revision) {
			last, lastBy = a, by
		}
	}
	return out
}

// follows is whether the leader took over from another one that had acted.
func (s *succession) follows() bool {
	return s.by != nil && s.before != nil && s.by.Taken.Revision >= s.byBefore.Taken.Revision
}

// worksOn is whether the holder acted after it had lost the Lease, for whatever reason, and so
// long after that it had not sent that before.
func (t *Tenure) worksOn(a *Action) fact.Truth {
	if t.Lost == nil || t.Lost.Revision > a.Revision {
		return fact.No
	}
	return within(t.Lost.When(), t.When(a.Stamp), bound("CLE-12", "inFlight")).Not()
}

// outlived is whether the leader before was alive and could not renew when another one
// began to act.
func (s *succession) outlived() bool {
	at, member := s.When(s.now.Stamp), s.byBefore.Member
	p := s.LastProcess(member, s.component(), at.Latest)
	return p != nil && p.Lived(at) == fact.Yes && p.Started.Latest < s.before.At &&
		(p.Paused().During(at) == fact.Yes || s.FaultAt(member).During(at) == fact.Yes)
}

// actsAlone is the law by which a leader acts only if it has the Lease, and took it after
// every other one that had acted before. The order of etcd decides, and no clock.
func actsAlone(row law.Row, describe func(*succession, law.Entry) law.Entry) law.Each[*Facts, *succession] {
	return law.Each[*Facts, *succession]{Row: row, Over: (*Facts).successions, End: func(s *succession, _ law.Bounds) law.Entry {
		at := s.When(s.now.Stamp)
		e := law.Of(s.Key, at).By(s.MemberOf(s.now.Holder))
		switch {
		case s.by == nil && s.Midway():
			return e.Unclear("%s acted as the leader of %s, and whether it had the Lease before the history began is not known", s.now.Holder, s.Key)
		case s.by == nil && s.Held().During(at) != fact.Yes:
			return e.Unclear("%s acted as the leader of %s and has never had the Lease, and whether another one had it is not certain", s.now.Holder, s.Key)
		case s.by == nil:
			return e.Broken("%s acted as the leader of %s, and has never had the Lease, which another one held", s.now.Holder, s.Key).Shown(s.now.Seq)
		case s.before != nil && !s.follows():
			return s.unlessUnnoticed(e, e.Broken("%s acted as the leader of %s%s, and %s, which took the Lease later%s, had acted before",
				s.now.Holder, s.Key, s.how(s.now, s.by), s.before.Holder, s.how(s.before, s.byBefore)).Shown(s.before.Seq, s.now.Seq))
		}
		switch s.by.worksOn(s.now) {
		case fact.Yes:
			after := time.Duration(at.Latest - s.by.Lost.When().Latest).Round(100 * time.Millisecond)
			return s.unlessUnnoticed(e, e.Broken("%s acted as the leader of %s%s %s after it had lost the Lease",
				s.now.Holder, s.Key, s.how(s.now, s.by), after).Shown(s.by.Lost.Seq, s.now.Seq))
		case fact.Unknown:
			return e.Unclear("whether %s had sent what it did as the leader of %s before it lost the Lease is not certain", s.now.Holder, s.Key).Shown(s.now.Seq)
		case fact.No:
		}
		return describe(s, e).Met()
	}}
}

// unlessUnnoticed is a breach, unless the leader cannot have known that it leads no more when it
// sent what it did.
func (s *succession) unlessUnnoticed(e, breach law.Entry) law.Entry {
	at := s.When(s.now.Stamp)
	switch s.mayNotNotice(func(who string) bool { return who == s.now.Holder }, s.now.Revision, at) {
	case fact.Yes:
		return e.Excused("the harness had taken its Lease a moment before")
	case fact.Unknown:
		return e.Unclear("whether %s had had the time to notice that the harness took %s is not certain", s.now.Holder, s.Key)
	case fact.No:
	}
	if lost := s.by.Lost; lost != nil {
		switch s.by.heldUp(lost.When(), s.now) {
		case fact.Yes:
			return e.Excused("an API server that stood still passed it on, and the leader had sent it before it lost the Lease")
		case fact.Unknown:
			return e.Unclear("the API server of %s stood still when it lost %s, and may have held the action since", s.now.Holder, s.Key).Shown(s.now.Seq)
		case fact.No:
		}
	}
	return breach.Unless(s.Evidence(at.Latest + int64(notion("requestsEndWithin"))))
}

// how is in words in which term a leader acted, where that is known, and whether it got the
// Lease by coordination.
func (s *succession) how(a *Action, t *Tenure) string {
	how := " without coordination"
	if t.coordinated() {
		how = " by coordination"
	}
	if a.Term > 0 {
		how += fmt.Sprintf(" (term %d)", a.Term)
	}
	return how
}

// coordinated is whether the Lease said when the holder took it that it is coordinated.
func (t *Tenure) coordinated() bool { return t.Taken.Now.Strategy != "" }
