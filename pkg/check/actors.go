package check

import (
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// actors follow who acts as the leader by which Lease. It goes by what leaders do
// and by the order in which they took the Lease: once somebody who took it later has
// acted, nobody who took it before acts any more. No clock is compared with another
// one, so nothing has to be tolerated.
type actors struct {
	// front is, for each Lease, the action of who took it last of those that acted, and
	// taken the revision at which that one took it.
	front map[string]*action
	taken map[string]int64
	// strangers are who has acted last, for each Lease, of those that never had it.
	strangers map[string]*action
	// freed are the last deletions of Leases, and deletions tell who asked for them.
	freed     map[string]unmade
	deletions deletions
}

func newActors() actors {
	return actors{front: map[string]*action{}, taken: map[string]int64{}, strangers: map[string]*action{}, freed: map[string]unmade{}}
}

// acts is what an action shows.
type acts int

const (
	// actsOn: the same one acts as before, or nobody has.
	actsOn acts = iota
	// actsAfter: it acts after somebody else has, and took the Lease after that one.
	actsAfter
	// actsBeside: somebody who took the Lease later has acted before.
	actsBeside
	// actsAround: somebody who has never had the Lease has acted while it had it.
	actsAround
)

// follow tells what the event in hand shows, if it is an action, and who acted last
// beside its actor.
func (a *actors) follow(w *World, ev *history.Event) (what acts, other *action) {
	e := w.elections
	a.deletions.take(w, ev, false)
	if m := e.moved; m != nil && m.deleted {
		// Who deletes a Lease lets everybody go at once; what follows is no breach of
		// those who lead.
		delete(a.front, m.lease.key)
		a.freed[m.lease.key] = unmade{m.lease.key, ev.Seq, ev.At, m.lease.revision}
	}
	now := e.acted
	if now == nil {
		return actsOn, nil
	}
	took, known := e.leases[now.Lease].takenAt[now.Holder]
	if !known {
		if w.gaps[SourceEtcd] == 0 { // or else it may have had it all the same
			a.strangers[now.Lease] = now
		}
		return actsOn, nil
	}
	if stranger := a.strangers[now.Lease]; stranger != nil {
		delete(a.strangers, now.Lease)
		if took < stranger.revision {
			return actsAround, stranger
		}
	}
	front := a.front[now.Lease]
	switch {
	case front == nil || front.Holder == now.Holder:
	case took < a.taken[now.Lease] && a.unaware(w, now, took):
		return actsOn, nil
	case took < a.taken[now.Lease]:
		return actsBeside, front
	default:
		what = actsAfter
	}
	a.front[now.Lease], a.taken[now.Lease] = now, took
	return what, front
}

// unaware is whether somebody acts whose Lease the harness has deleted a moment ago: it
// learns that when it renews next, and another one may lead before that. What a
// coordinator deletes by itself is no such excuse.
func (a *actors) unaware(w *World, now *action, took int64) bool {
	freed, was := a.freed[now.Lease]
	return was && took < freed.revision && time.Duration(now.at-freed.at) <= noticesWithin && a.deletions.explained(w, freed)
}
