package election

import (
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// disturbance is an event after which Leases may have to move.
type disturbance struct {
	at int64
	// active is whether it keeps the time from being quiet, and causes whether it may be
	// the cause of an election, rather than a consequence of one.
	active, causes bool
	// process is the start or end of an instance that takes part in elections, which is a
	// cause unless it follows from an election.
	process *history.Process
	member  string
}

// disturb notes what an event disturbs.
func (f *Facts) disturb(ev *history.Event) {
	d := disturbance{at: ev.At}
	switch {
	case ev.Process != nil:
		p := ev.Process
		d.active = true
		elected := p.Component == history.ComponentControllerManager || p.Component == history.ComponentScheduler
		if d.causes = true; elected && (p.Change == history.ProcessStarted || p.Change == history.ProcessExited) {
			d.process, d.member = p, ev.Member
		}
	case ev.Fault != nil, ev.Away != nil && fact.Source(ev.Away.Source) == fact.Etcd && time.Duration(ev.At-ev.From) >= electionWaits():
		// While etcd stands still no leader can renew and no candidate can answer. A stall
		// that is shorter than an election waits for answers moves no Lease.
		d.active, d.causes = true, true
	case ev.Request != nil && ev.Request.Class == history.ClassElection:
		d.active, d.causes = true, !fact.Harness(ev.Request.Name)
	case ev.Step != nil && ev.Step.Action != fact.ActionHold:
		d.causes = true
	default:
		return
	}
	f.disturbances = append(f.disturbances, d)
}

// times are the times of disturbances that fit, and of candidates that came or went, in
// order.
func (f *Facts) times(fits func(*disturbance) bool, candidates func(*Candidate, bool) bool) []int64 {
	var out []int64
	for i := range f.disturbances {
		if d := &f.disturbances[i]; fits(d) {
			out = append(out, d.at)
		}
	}
	for _, c := range f.candidates {
		if candidates(c, false) {
			out = append(out, c.changes[0].At)
		}
		if c.gone != nil && candidates(c, true) {
			out = append(out, c.gone.At)
		}
	}
	slices.Sort(out)
	return out
}

// active are the times at which something happened that keeps Leases moving.
func (f *Facts) active() []int64 {
	return cached(f, "active", func() []int64 {
		return f.times(func(d *disturbance) bool { return d.active }, func(*Candidate, bool) bool { return true })
	})
}

// causes are the times at which something happened for which a leader may have to be
// elected, and that is no consequence of an election.
func (f *Facts) causes() []int64 {
	return cached(f, "causes", func() []int64 {
		seen := map[string]bool{}
		return f.times(
			func(d *disturbance) bool { return d.causes && (d.process == nil || !f.followsElection(d)) },
			func(c *Candidate, gone bool) bool {
				key := c.Name
				if gone {
					key += " gone"
				}
				if c.process() == nil || seen[key] || f.returnsAfterElection(c, gone) {
					return false
				}
				seen[key] = true
				return true
			})
	})
}

// followsElection is whether an instance ended since it had lost a Lease, or was told to
// give it up, or started since the one before had ended so.
func (f *Facts) followsElection(d *disturbance) bool {
	for _, p := range f.Processes(d.member, d.process.Component) {
		if p.Instance != d.process.Instance {
			continue
		}
		if d.process.Change == history.ProcessExited {
			return f.ousted(p)
		}
		return p.Before != nil && f.ousted(p.Before)
	}
	return false
}

// ousted is whether a process ended by itself after it had lost a Lease or was told to
// give it up.
func (f *Facts) ousted(p *fact.Process) bool {
	if !p.EndedItself() {
		return false
	}
	for _, l := range f.leases {
		if componentOf(l.Key) == p.Component && l.deposed(p, p.Exited.Latest) {
			return true
		}
	}
	return false
}

// deposed is whether the holder of a process had lost the Lease by a time, or was told to
// give it up, and had not got it again.
func (l *Lease) deposed(p *fact.Process, by int64) bool {
	out := false
	for _, t := range l.tenures() {
		if l.facts.MemberOf(t.Holder) != p.Member || t.Taken.At < p.Started.Earliest || t.Taken.At > by {
			continue
		}
		marked := slices.ContainsFunc(l.changes, func(c *Change) bool {
			return c.Revision > t.Taken.Revision && (t.Lost == nil || c.Revision < t.Lost.Revision) && c.At <= by && c.Now != nil && c.Now.Preferred != "" && c.Now.Preferred != t.Holder
		})
		out = marked || t.Lost != nil && t.Lost.At <= by
	}
	return out
}

// returnsAfterElection is whether a candidate goes because its process has lost a Lease, or
// comes back after that without being better than the leader.
func (f *Facts) returnsAfterElection(c *Candidate, gone bool) bool {
	p := c.process()
	l := f.leases[c.Lease]
	if l == nil {
		return false
	}
	if gone {
		return l.deposed(p, c.gone.At)
	}
	if p.Before == nil || !f.ousted(p.Before) {
		return false
	}
	lead := l.leadershipAt(c.changes[0].Revision)
	return lead != nil && lead.candidate != nil && !older(c.last(), lead.candidate.last())
}

// leadershipAt is the leadership that a Lease has at a revision; nil before the first.
func (l *Lease) leadershipAt(revision int64) *leadership {
	var found *leadership
	for _, lead := range l.leaderships() {
		if lead.taken.Revision <= revision {
			found = lead
		}
	}
	return found
}

// sinceLast is the time from the last of some times that is before a moment to it; very
// long if there is none.
func sinceLast(times []int64, at int64) time.Duration {
	i, _ := slices.BinarySearch(times, at)
	if i == 0 {
		return time.Duration(fact.Forever)
	}
	return time.Duration(at - times[i-1])
}

// longSince is whether the last of some times that is before a moment, whichever instant
// that is, lies further back than a bound.
func longSince(times []int64, at fact.Moment, bound time.Duration) fact.Truth {
	since := sinceLast(times, at.Latest)
	switch {
	case since <= bound:
		return fact.No
	case since == time.Duration(fact.Forever), since-time.Duration(at.Latest-at.Earliest) > bound:
		return fact.Yes
	}
	return fact.Unknown
}
