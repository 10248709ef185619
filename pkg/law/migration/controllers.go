package migration

import (
	"cmp"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// leader is who leads the controller managers from a revision on: the controller that
// migrates is one of theirs.
type leader struct {
	fact.Stamp
	// Holder of the Lease, and the Member on whose host it runs; empty if none does.
	Holder, Member string
}

func (f *Facts) observeLeader(ev *history.Event) {
	now := leader{Stamp: fact.StampOf(ev)}
	if l := ev.Stored.Lease; l != nil && ev.Stored.Type != history.StoredDelete {
		now.Holder, now.Member = l.Holder, f.MemberOf(l.Holder)
	}
	if n := len(f.leaders); n > 0 && f.leaders[n-1].Holder == now.Holder {
		return
	}
	f.leaders = append(f.leaders, now)
}

// leaderAt is who led at a revision.
func (f *Facts) leaderAt(revision int64) leader {
	for i := len(f.leaders) - 1; i >= 0; i-- {
		if f.leaders[i].Revision <= revision {
			return f.leaders[i]
		}
	}
	return leader{}
}

// leads is while a member's controller manager holds the Lease.
func (f *Facts) leads(member string) fact.Signal {
	var b fact.Builder
	for _, l := range f.leaders {
		b.Set(f.When(l.Stamp), fact.Of(l.Member == member))
	}
	return b.Signal()
}

// releaseAt is that of the API server of the member whose controller manager led.
func (f *Facts) releaseAt(revision, at int64) string {
	if p := f.LastProcess(f.leaderAt(revision).Member, history.ComponentAPIServer, at); p != nil {
		return p.Release
	}
	return ""
}

// able is while a controller can migrate: it leads, it and the API server that it asks
// run, no fault is at its member, and etcd has a majority.
func (f *Facts) able() fact.Signal {
	return cached(f, "able", func() fact.Signal {
		var etcds []fact.Signal
		for _, member := range f.Members() {
			if len(f.Processes(member, history.ComponentEtcd)) > 0 {
				etcds = append(etcds, f.Running(member, history.ComponentEtcd))
			}
		}
		return fact.And(atLeast(len(etcds)/2+min(len(etcds), 1), etcds), f.leading(func(member string) fact.Signal {
			return fact.And(f.Serves(member), fact.Not(f.FaultAt(member)))
		}))
	})
}

// migrating is while a controller manager that leads runs, whatever is in its way.
func (f *Facts) migrating() fact.Signal {
	return cached(f, "migrating", func() fact.Signal {
		return f.leading(func(string) fact.Signal { return fact.Constant(fact.Yes) })
	})
}

// leading is while the controller manager of a member leads and runs, and something holds
// of that member.
func (f *Facts) leading(holds func(member string) fact.Signal) fact.Signal {
	var any []fact.Signal
	for _, member := range f.Members() {
		any = append(any, fact.And(f.leads(member), f.Running(member, history.ComponentControllerManager), holds(member)))
	}
	return fact.Or(any...)
}

// atLeast holds while so many of the signals do.
func atLeast(n int, signals []fact.Signal) fact.Signal {
	switch {
	case n <= 0:
		return fact.Constant(fact.Yes)
	case len(signals) < n:
		return fact.Constant(fact.No)
	}
	return fact.Or(fact.And(signals[0], atLeast(n-1, signals[1:])), atLeast(n, signals[1:]))
}

// clock is that of migrations: it runs while a controller is able to migrate that has had
// the time to start, and may run while it starts.
func (f *Facts) clock() fact.Signal {
	return cached(f, "clock", func() fact.Signal {
		working := f.able().Since(int64(controllerStarts()))
		return fact.Or(working, fact.And(f.able(), fact.Constant(fact.Unknown)))
	})
}

// worked is for how long a condition held between two moments, while the clock
// of migrations ran: at least, and at most.
func (f *Facts) worked(from, to fact.Moment, while ...fact.Signal) (least, most time.Duration) {
	clock := fact.And(append(while, f.clock())...)
	if from.Latest < to.Earliest {
		least = time.Duration(clock.Lasts(from.Latest, to.Earliest, fact.Yes))
	}
	if from.Earliest < to.Latest {
		most = time.Duration(clock.Lasts(from.Earliest, to.Latest, fact.Unknown))
	}
	return least, most
}

// interruption is the end of the controller that led, or of an API server, while a
// migration ran.
type interruption struct {
	fact.Moment
	Member string
}

// ends are the ends of processes of a component while it certainly ran.
func (m *Migration) ends(component string, fits func(*fact.Process) bool) []interruption {
	var out []interruption
	for _, p := range m.facts.AllProcesses() {
		if p.Component == component && p.Exited != nil && fits(p) && m.certainlyAt(*p.Exited) {
			out = append(out, interruption{*p.Exited, p.Member})
		}
	}
	return out
}

// crashes are those of controller managers that led, and serverEnds those of API servers.
func (m *Migration) crashes() []interruption {
	return m.ends(history.ComponentControllerManager, func(p *fact.Process) bool {
		return m.facts.leads(p.Member).During(fact.Exactly(p.Exited.Earliest, p.Exited.Seq)) == fact.Yes
	})
}

func (m *Migration) serverEnds() []interruption {
	return m.ends(history.ComponentAPIServer, func(*fact.Process) bool { return true })
}

// certainlyAt is whether it is certain that a moment lies in the time in which it ran.
func (m *Migration) certainlyAt(at fact.Moment) bool {
	begin := m.begun()
	return was(begin) && m.facts.When(begin).Before(at) == fact.Yes && (!was(m.end()) || at.Before(m.facts.When(m.end())) == fact.Yes)
}

// takeovers are the changes of the leader to a member's controller manager, after another
// one, while it ran.
func (m *Migration) takeovers() []leader {
	var out []leader
	led := ""
	for _, l := range m.facts.leaders {
		if l.Member == "" {
			continue
		}
		if led != "" && led != l.Holder && m.ran(l.Revision) {
			out = append(out, l)
		}
		led = l.Holder
	}
	return out
}

// sign is the last sign that it went on: its start, an object that it rewrote, or a change
// of its status.
func (m *Migration) sign() fact.Stamp {
	last := m.Started
	for _, r := range m.Reports {
		if r.Revision > last.Revision && m.ran(r.Revision) {
			last = r.Stamp
		}
	}
	if all := m.rewritten(); len(all) > 0 && all[len(all)-1].Revision > last.Revision {
		last = all[len(all)-1].Stamp
	}
	return last
}

// stalled is for how long nothing came of a migration that has not ended, while a
// controller worked and the servers were in agreement; and how long that may be.
func (m *Migration) stalled() (least, most, allowed time.Duration) {
	f, sign := m.facts, m.sign()
	least, most = f.worked(f.When(sign), m.over())
	return least, most, goesOnWithin() + m.again(sign)
}

// again is how much longer it may take for controllers to come again past the objects that
// are in the target version, which leaves no trace in etcd.
func (m *Migration) again(since fact.Stamp) time.Duration {
	controllers := 1
	for _, l := range m.takeovers() {
		if l.Revision > since.Revision {
			controllers++
		}
	}
	target := cmp.Or(m.target().Version, m.facts.agreement(m.Of, m.endRevision()-1).Version)
	done := m.facts.storedAt(m.Of, m.endRevision()-1).in[target]
	return time.Duration(int64(controllers)*done) * passesObject()
}
