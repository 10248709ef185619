package storageversion

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// leaderLease is where the leader of the controller managers is elected, of which the
// collector of KEP-2339 is a part.
const leaderLease = fact.IdentityLeasePrefix + "kube-controller-manager"

// leadership is since when the controller manager of a member leads; empty if none does.
type leadership struct {
	fact.Stamp
	member string
}

func (f *facts) observeLeader(ev *history.Event) {
	if ev.Stored.Key != leaderLease {
		return
	}
	member := ""
	if ev.Stored.Lease != nil {
		member = f.MemberOf(ev.Stored.Lease.Holder)
	}
	if n := len(f.leaders); n == 0 || f.leaders[n-1].member != member {
		f.leaders = append(f.leaders, leadership{fact.StampOf(ev), member})
	}
}

// leads is while the controller manager of a member leads.
func (f *facts) leads(member string) fact.Signal {
	var b fact.Builder
	for _, l := range f.leaders {
		b.Set(f.When(l.Stamp), fact.Of(l.member == member))
	}
	return b.Signal()
}

// collectorKnown is whether there is a collector: a controller manager was seen to run or
// to lead.
func (f *facts) collectorKnown() bool {
	for _, l := range f.leaders {
		if l.member != "" {
			return true
		}
	}
	for _, m := range f.Members() {
		if len(f.Processes(m, history.ComponentControllerManager)) > 0 {
			return true
		}
	}
	return false
}

// collects is while the collector of a member has nothing in its way: its controller
// manager leads and runs, the member's API server lives, and no fault is at the member.
func (f *facts) collects(member string) fact.Signal {
	return fact.And(f.leads(member), f.Running(member, history.ComponentControllerManager),
		f.Alive(member, history.ComponentAPIServer), fact.Not(f.FaultAt(member)))
}

// collectorAble is while a collector can do its work: it has nothing in its way, and had
// the time to begin. Without a majority of etcd no write succeeds.
func (f *facts) collectorAble(starts time.Duration) fact.Signal {
	d := f.derive()
	if able, ok := d.able[starts]; ok {
		return able
	}
	var any, down []fact.Signal
	for _, m := range f.Members() {
		any = append(any, f.collects(m))
		if len(f.Processes(m, history.ComponentEtcd)) > 0 {
			down = append(down, fact.Not(f.Alive(m, history.ComponentEtcd)))
		}
	}
	minority := (len(f.Header.Members)-1)/2 + 1
	able := delayed(fact.And(fact.Or(any...), fact.Not(atLeast(minority, down))), starts)
	d.able[starts] = able
	return able
}

// atLeast is while at least so many of the signals hold.
func atLeast(n int, of []fact.Signal) fact.Signal {
	switch {
	case n == 0:
		return fact.Constant(fact.Yes)
	case len(of) < n:
		return fact.Constant(fact.No)
	}
	return fact.Or(fact.And(of[0], atLeast(n-1, of[1:])), atLeast(n, of[1:]))
}

// delayed is a signal that holds only once the given one has held for a time.
func delayed(s fact.Signal, by time.Duration) fact.Signal {
	later := func(atLeast fact.Truth) fact.Signal {
		var b fact.Builder
		for _, span := range s.Spans(atLeast) {
			if begin := max(span.Begin, 0) + int64(by); begin < span.End {
				b.SetAt(begin, atLeast)
				b.SetAt(span.End, fact.No)
			}
		}
		return b.Signal()
	}
	return fact.Or(later(fact.Yes), later(fact.Unknown))
}

// noticed is while those can work that have to notice who comes and goes: the collector,
// where one is known.
func (f *facts) noticed(starts time.Duration) fact.Signal {
	if !f.collectorKnown() {
		return fact.Constant(fact.Yes)
	}
	return f.collectorAble(starts)
}
