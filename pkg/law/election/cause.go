package election

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// observeCause notes what may have Leases move. What follows from an election is no cause of
// one: the starts and ends of processes that take part are looked into at the end.
func (f *Facts) observeCause(ev *history.Event) {
	moves, causes := false, false
	switch {
	case ev.Process != nil:
		p := ev.Process
		moves, causes = true, !takesPart(p.Component) || p.Change == history.ProcessPaused || p.Change == history.ProcessResumed
	case ev.Fault != nil && ev.Fault.Type == history.FaultBackend: // aggregated servers have no part in elections
	case ev.Fault != nil, ev.RecorderDelayed != nil && fact.Source(ev.RecorderDelayed.Source) == fact.Etcd && time.Duration(ev.At-ev.From) >= notion("electionWaits"):
		// While etcd stands still no leader can renew and no candidate can answer. A stall
		// that is shorter than an election waits for answers moves no Lease.
		moves, causes = true, true
	case ev.Request != nil && ev.Request.Class == history.ClassElection:
		moves, causes = true, !fact.Harness(ev.Request.Name)
	case ev.Step != nil:
		causes = ev.Step.Action != fact.ActionHold
	}
	if moves {
		f.moves = append(f.moves, ev.At)
	}
	if causes {
		f.causes = append(f.causes, ev.At)
	}
}

// takesPart is whether a component elects its leader by a Lease of its own.
func takesPart(component string) bool {
	return component == history.ComponentControllerManager || component == history.ComponentScheduler
}

// whyMoves are the times of all for which a leader may have to be elected, and that follow
// from no election, in order.
func (f *Facts) whyMoves() []int64 {
	return cached(f, "causes", nil, func() []int64 {
		out := slices.Clone(f.causes)
		for _, p := range f.AllProcesses() {
			if takesPart(p.Component) && (p.Before == nil || !f.ousted(p.Before)) {
				out = append(out, p.Started.Latest)
			}
			if takesPart(p.Component) && p.Exited != nil && !f.ousted(p) {
				out = append(out, p.Exited.Latest)
			}
		}
		for _, k := range candidates((*Candidate).ofMember)(f) {
			if led := k.For.tenureAt(k.said[0].Revision); led == nil || led.candidate == nil || older(k.last(), led.candidate.last()) {
				out = append(out, k.said[0].At) // it is better than the leader
			}
		}
		slices.Sort(out)
		return out
	})
}

// tenureAt is the last tenure that began by a revision; nil if there is none.
func (l *Lease) tenureAt(revision int64) *Tenure {
	all := l.tenures()
	if i := fact.Last(all, revision, func(t *Tenure) int64 { return t.Taken.Revision }); i >= 0 {
		return all[i]
	}
	return nil
}

// ousted is whether a process ended by itself after it had lost a Lease or was told to
// give it up.
func (f *Facts) ousted(p *fact.Process) bool {
	return p.EndedItself() && slices.ContainsFunc(f.lastLed(p), func(t *Tenure) bool {
		told := t.told()
		return told != nil && told.At <= p.Exited.Latest
	})
}

// lastLed are the last tenures of a process, by each Lease of its component: the last in which
// it showed that it leads, and those after that, for which a coordinator named it.
func (f *Facts) lastLed(p *fact.Process) []*Tenure {
	var out []*Tenure
	for _, l := range leases(func(l *Lease) bool { return l.component() == p.Component })(f) {
		for _, t := range slices.Backward(l.tenures()) {
			if t.Member == p.Member && t.Taken.At >= p.Started.Earliest && t.Taken.At <= p.Exited.Latest {
				out = append(out, t)
				if t.Shown() {
					break
				}
			}
		}
	}
	return out
}

// until is whether a signal holds at a moment; it does not where it does not at the end of it.
func until(s fact.Signal, at fact.Moment) fact.Truth { return min(s.During(at), s.At(at.Latest)) }

// unlessStalled is an obligation that is broken because a Lease moved though nothing had
// happened. It is unclear where the machine was starved right before for as long as a leader
// must miss its renewals for a coordinator to prepare an election.
func (f *Facts) unlessStalled(e law.Entry, at fact.Moment) law.Entry {
	before := int64(bound("CLE-17", "causeWithin"))
	return law.UnlessStarved(f.History, e, notion("renewalsMissed"), fact.Constant(fact.Yes), at.Latest-before, at.Latest)
}

// quiet is while none of some times, which are in order, was for so long.
func quiet(times []int64, long time.Duration) fact.Signal {
	var b fact.Builder
	b.Begin(fact.Yes)
	for i, at := range times {
		b.SetAt(at+1, fact.No)
		if end := at + int64(long) + 1; i+1 == len(times) || end <= times[i+1] {
			b.SetAt(end, fact.Yes)
		}
	}
	return b.Signal()
}
