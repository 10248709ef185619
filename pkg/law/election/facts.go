package election

import (
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

const (
	leasePrefix     = "/registry/leases/"
	candidatePrefix = "/registry/leasecandidates/"
	// coordinators is the Lease by which API servers elect the active coordinator.
	coordinators = "kube-system/leader-election-controller"
	// managers is the Lease of the controller managers, and scheduler that of the only component
	// that is none.
	managers  = "kube-system/kube-controller-manager"
	scheduler = "kube-system/kube-scheduler"
	// oldest and newest are the strategies by which a coordinator elects, and notCoordinated is
	// the one that leaves a Lease to the instances.
	oldest         = "OldestEmulationVersion"
	newest         = "NewestEmulationVersion"
	notCoordinated = "NoCoordination"
	// fieldProbes begins the names of the Leases in which the harness tries fields out.
	fieldProbes = "kube-system/evenkeel-fields-"
)

// Facts are the facts of KEP-4355 about one history.
type Facts struct {
	*fact.History
	// tells is whether coordinators say who they are in what they write.
	tells bool
	// leases are those that exist or that candidates stand for, by <namespace>/<name>.
	leases map[string]*Lease
	// declared are all candidates, in the order in which they were created, and standing
	// those that exist, by <namespace>/<name>.
	declared []*Candidate
	standing map[string]*Candidate
	// requests are the writes of the harness to Leases and candidates, and made are those
	// that made a revision.
	requests []*fact.Asked
	made     map[int64]*history.Request
	// moves are the times of all that may have Leases move, and causes of what moves them
	// by itself.
	moves, causes []int64
	// activityProbes are the changes by which the harness gave leaders work.
	activityProbes []activityProbe
}

// begin makes the facts of a history of which nothing was observed.
func begin(h *fact.History) *Facts {
	f := &Facts{History: h, leases: map[string]*Lease{}, standing: map[string]*Candidate{}, made: map[int64]*history.Request{}}
	if h.Midway() {
		// What happened right before the history may have Leases move.
		f.moves, f.causes = []int64{0}, []int64{0}
	}
	return f
}

// Observe takes the next event in.
func (f *Facts) Observe(ev *history.Event) {
	f.observeCause(ev)
	switch s := ev.Stored; {
	case ev.Request != nil && ev.Request.Class == history.ClassElection:
		f.requests = append(f.requests, &fact.Asked{Request: ev.Request, Stamp: fact.StampOf(ev), Member: ev.Member})
		if r := ev.Request; r.ResourceVersion > 0 && r.Code >= 200 && r.Code < 300 {
			f.made[r.ResourceVersion] = r
		}
	case s == nil:
	case strings.HasPrefix(s.Key, candidatePrefix):
		f.observeCandidate(ev)
	case strings.HasPrefix(s.Key, leasePrefix):
		f.observeLease(ev)
	case s.LeaderAction != nil:
		f.observeAction(ev)
	case strings.Contains(s.Key, activityProbeNamespace):
		f.observeActivityProbe(ev)
	}
}

// derived is the key of what is derived of a thing.
type derived struct {
	what string
	of   any
}

func cached[T any](f *Facts, what string, of any, derive func() T) T {
	return fact.Cached(f.History, derived{what, of}, derive)
}

// lease is the Lease of a key, which may not exist yet.
func (f *Facts) lease(key string) *Lease {
	if f.leases[key] == nil {
		f.leases[key] = &Lease{Facts: f, Key: key, acted: map[string]*Action{}}
	}
	return f.leases[key]
}

// leases give the Leases that fit, in the order of their names.
func leases(fits func(*Lease) bool) func(*Facts) []*Lease {
	return func(f *Facts) []*Lease {
		all := fact.Each(law.SortedKeys(f.leases), func(key string) *Lease { return f.leases[key] })
		return fact.Where(all, fits)
	}
}

// changes give the changes that fit, of all Leases. What the harness asked for last, the history of
// a run that was killed does not tell, so that it says of the last changes not who made them.
func changes(fits func(*Change) bool) func(*Facts) []*Change {
	return func(f *Facts) []*Change {
		var out []*Change
		for _, l := range leases((*Lease).there)(f) {
			out = append(out, fact.Where(l.changes, func(c *Change) bool { return f.Answered(c.Stamp, notion("requestsEndWithin")) && fits(c) })...)
		}
		return out
	}
}

// tenures give the tenures of the Leases that fit.
func tenures(fits func(*Lease) bool) func(*Facts) []*Tenure {
	return func(f *Facts) []*Tenure {
		var out []*Tenure
		for _, l := range leases(fits)(f) {
			out = append(out, l.tenures()...)
		}
		return out
	}
}

// within is whether a moment comes no later after another one than a bound.
func within(before, after fact.Moment, bound time.Duration) fact.Truth {
	switch least, most := before.Until(after); {
	case most <= bound:
		return fact.Yes
	case least > bound:
		return fact.No
	}
	return fact.Unknown
}

// able is while a process runs, nothing stands in the way at its member, and etcd can write.
func (f *Facts) able(p *fact.Process) fact.Signal {
	return fact.And(p.Running(), f.Healthy(p.Member), f.writable())
}

// writable is while etcd can write. An election is nothing but writes.
func (f *Facts) writable() fact.Signal { return cached(f, "writable", nil, f.EtcdQuorum) }

// mute is while the API server of a member answers no question about its readiness.
func (f *Facts) mute(member string) fact.Signal {
	return cached(f, "mute", member, func() fact.Signal {
		return fact.Follow(f.ReadyAnswers(member), func(a fact.ReadyAnswer) fact.Moment { return a.Since },
			func(a fact.ReadyAnswer) bool { return a.Code == 0 })
	})
}
