package fact

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// AtLeast holds while so many of the signals do.
func AtLeast(n int, signals ...Signal) Signal {
	switch {
	case n <= 0:
		return Constant(Yes)
	case n > len(signals):
		return Constant(No)
	}
	return Or(And(signals[0], AtLeast(n-1, signals[1:]...)), AtLeast(n, signals[1:]...))
}

// Majority is while something holds of a majority of the members.
func (h *History) Majority(holds func(member string) Signal) Signal {
	return AtLeast(len(h.Header.Members)/2+1, Each(h.Members(), holds)...)
}

// AnyMember is while something holds of any member.
func (h *History) AnyMember(holds func(member string) Signal) Signal {
	return Or(Each(h.Members(), holds)...)
}

// EtcdQuorum is while a majority of the members' etcd runs, and no fault hits it: without
// it no write is sure to succeed. An etcd of which no process was seen counts as running.
func (h *History) EtcdQuorum() Signal {
	return h.Majority(func(member string) Signal {
		whole := Not(h.FaultActive(func(f *Fault) bool { return f.Member == member && f.hits(history.ComponentEtcd) }))
		if len(h.Processes(member, history.ComponentEtcd)) == 0 {
			return whole
		}
		return And(whole, h.Running(member, history.ComponentEtcd))
	})
}

// Healthy is while nothing stands in the way at a member and its API server serves, and Up while
// its API server runs, ready or not.
func (h *History) Healthy(member string) Signal {
	return And(h.Serves(member), h.free(member), Not(h.Returning(member, history.ComponentEtcd)))
}

// Up is like Healthy, also while the API server is not ready.
func (h *History) Up(member string) Signal {
	return And(h.Running(member, history.ComponentAPIServer), h.free(member))
}

// free is while nothing stands in the way at a member but its API server: the harness does not
// keep its etcd from running, no fault is at the member, nor has one taken its power.
//
// Members have their etcd beside them, and an API server reads from and writes to that one
// only: without it a request waits until the etcd is back, or fails.
func (h *History) free(member string) Signal {
	return Not(Or(h.Stopped(member, history.ComponentEtcd), h.FaultAt(member), h.Powerless(member)))
}

// Returning is since the harness lets a component of a member run again, until its API server is
// ready. It has to start, or to connect to its etcd: it tries that the more seldom the longer the
// etcd was away, and until then it says that it is not ready. That it is within a bound RO-02 judges.
// It has to start again also where it was away so shortly that it is not certain when.
func (h *History) Returning(member, component string) Signal {
	ready, answers := h.Ready(member), h.ReadyAnswers(member)
	var out []Signal
	for _, stopped := range h.Stopped(member, component).Spans(Unknown) {
		if ready.At(stopped.End) == Yes {
			continue
		}
		var returned *Moment
		if i := slices.IndexFunc(answers, func(a ReadyAnswer) bool { return a.OK() && a.Since.Latest >= stopped.End }); i >= 0 {
			returned = &answers[i].Since
		}
		out = append(out, Between(Exactly(stopped.End, 0), returned))
	}
	return Or(out...)
}

// Stopped is while the harness keeps a component of a member from running: it told the
// process to end, ended or paused it, and has not started another one. One that is told to
// end may live on for a while, and no longer works: an etcd with watches takes some 8 s, in
// which it answers nothing. A process that ends by itself is not stopped.
func (h *History) Stopped(member, component string) Signal {
	var ended Builder
	var paused []Signal
	for _, p := range h.Processes(member, component) {
		ended.Set(p.Started, No)
		switch {
		case p.Stopping != nil:
			ended.Set(*p.Stopping, Yes)
		case p.Exited != nil && p.Expected:
			ended.Set(*p.Exited, Yes)
		}
		paused = append(paused, p.Paused())
	}
	return Or(ended.Signal(), Or(paused...))
}

// Blameless is whether the harness is why a process of an API server ended.
func (h *History) Blameless(p *Process) Truth { return max(h.HarnessEnded(p), h.EndedWithoutEtcd(p)) }

// EndedWithoutEtcd is whether a process of an API server was never ready, and the harness kept its
// etcd from running, or from having a majority, when it started and when it ended. It cannot go on
// then. One whose etcd is there when it ends crashes.
func (h *History) EndedWithoutEtcd(p *Process) Truth {
	if p.Component != history.ComponentAPIServer || p.Exited == nil || h.FirstReady(p) != nil {
		return No
	}
	majority := h.Majority(func(member string) Signal { return Not(h.Stopped(member, history.ComponentEtcd)) })
	kept := Or(h.Stopped(p.Member, history.ComponentEtcd), Not(majority))
	return min(kept.During(p.Started), kept.During(h.WhenEnded(p)))
}

// managerLease is the Lease of the controller managers' leader.
const managerLease = IdentityLeasePrefix + "kube-controller-manager"

// Holding is who has a Lease: the holder, and the member on whose host it runs, empty if it
// runs on none.
type Holding struct{ Holder, Member string }

func (h *History) observeManager(ev *history.Event) {
	if ev.Stored.Key != managerLease {
		return
	}
	now := Holding{}
	if l := ev.Stored.Lease; l != nil && ev.Stored.Type != history.StoredDelete {
		now = Holding{strings.Clone(l.Holder), h.MemberOf(l.Holder)}
	}
	if last := h.managers.Last(); last == nil || last.Is != now {
		h.managers.Set(StampOf(ev), now)
	}
}

// Managers are the leaders of the controller managers.
func (h *History) Managers() *Values[Holding] { return &h.managers }

// ManagerLeads is while the controller manager of a member leads.
func (h *History) ManagerLeads(member string) Signal {
	return h.managers.While(h, func(l Holding) bool { return l.Member == member })
}

// ManagerAble is while a controller manager can do the work of its controllers: it leads and
// runs, nothing stands in the way at its member, and etcd has a majority.
func (h *History) ManagerAble() Signal {
	type key struct{}
	return Cached(h, key{}, func() Signal {
		return And(h.EtcdQuorum(), h.AnyMember(func(member string) Signal {
			return And(h.ManagerLeads(member), h.Running(member, history.ComponentControllerManager), h.Healthy(member))
		}))
	})
}
