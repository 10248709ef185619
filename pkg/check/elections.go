package check

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	leasePrefix     = "/registry/leases/"
	candidatePrefix = "/registry/leasecandidates/"
	// holdAction is the step in which the harness does nothing.
	holdAction = "hold"
	// coordinatorsLease is by which the coordinators elect the one that is active.
	coordinatorsLease = "kube-system/leader-election-controller"
	// schedulerLease is the one of the component that is no controller manager.
	schedulerLease = "kube-system/kube-scheduler"
	// ownPrefix begins the names of all participants and holders that the harness
	// plays, and of the Leases that are theirs alone.
	ownPrefix = "evenkeel-"
	// byOldest is the strategy by which a coordinator elects.
	byOldest = "OldestEmulationVersion"
)

// elections is what is known of Leases, of those who want to lead, and of those
// who act as leaders.
type elections struct {
	leases     map[string]*ledLease      // by <namespace>/<name>
	candidates map[string]*candidateSeen // by <namespace>/<name>
	processes  map[string]*elected       // by member and component
	// departed are candidates that have gone, and did not come back.
	departed map[string]*candidateSeen
	// tells is whether coordinators say who they are in what they write.
	tells bool
	// quietSince is when something was done last that may move an election.
	quietSince int64
	// causedAt is when something happened last for which something may have to be elected,
	// and that is no consequence of an election itself.
	causedAt int64
	// changes are which candidates have come and gone so far.
	changes once
	// dated is the latest time that was written into what etcd has told so far, by whoever
	// wrote it: all that etcd tells from now on was written later.
	dated int64
	// stalledAt is when a process was paused or resumed last: what it had under way then
	// may come to an end much later.
	stalledAt int64

	// moved is how the event in hand changes a Lease, asked and renewed the
	// candidate that it pings or that renews, and acted the action that it is; nil
	// if it does not.
	moved          *leaseMove
	asked, renewed *candidateSeen
	declared, gone *candidateSeen
	acted          *action
}

// elected is the process of a component that takes part in elections.
type elected struct {
	member        string
	component     string
	release       string
	before        string // the release of the process before it
	instance      int
	startSeq      int64
	startedAt     int64
	alive, paused bool
	// deposed is whether it was told to give up a Lease that it had, or has lost it.
	// follows is whether it has ended because of that, or was started because the one
	// before has.
	deposed, follows bool
}

// ledLease is a Lease by which somebody leads.
type ledLease struct {
	key string
	// now is nil while it does not exist.
	now               *history.Lease
	seq, at, revision int64
	// last held it last, if nobody does now, and since is when that one took it.
	last  string
	since int64
	// shown is whether who has it now has shown that he is there: has taken it himself,
	// has renewed it or has acted. Who was only named may be dead.
	shown bool
	// takenAt are the revisions at which holders took it last.
	takenAt map[string]int64
	// freeSince is since when nobody holds it, by what it says; 0 while held.
	freeSince, freeSeq int64
	// deleted is whether it was deleted since somebody held it.
	deleted bool
	// actors are who has acted, with what they did last.
	actors map[string]*action
}

// leaseMove is a change of a Lease.
type leaseMove struct {
	lease *ledLease
	// before is what it said until now, nil if it did not exist, by the event
	// beforeSeq at beforeAt; from is who held it last, if anybody did.
	before              *history.Lease
	beforeSeq, beforeAt int64
	from                string
	// afterDeletion is whether it was deleted since from held it.
	afterDeletion bool
	// taken: it got a holder that it had not before. released: its holder gave it
	// up. marked: its holder was told to give up. deleted: it was deleted.
	taken, released, marked, deleted bool
	// free was since when nobody held it.
	free, freeSeq int64
}

// candidateSeen is a LeaseCandidate.
type candidateSeen struct {
	name  string // <namespace>/<name>
	lease string // <namespace>/<name>
	now   history.Candidate
	// created is when it was declared; pinged, renewed and answered are when that
	// happened last, and 0 if it has not.
	created, createdSeq int64
	pinged, pingedSeq   int64
	renewed, renewedSeq int64
	answered            int64
	// silent is since when it owes an answer, however often it was asked since, and
	// lateSeq the answer that it gave last after more time than an election waits.
	silent, lateSeq int64
	// unasked is when it renewed last without being asked, or was declared, and before
	// when that was the time before. Answers do not count: the KEP has candidates renew
	// every 300 seconds, however often they were asked in between.
	unasked, unaskedSeq int64
	before, beforeSeq   int64
	// unprompted is whether the last renewal was one that nobody had asked for.
	unprompted bool
	gone       bool
	goneAt     int64
	// process that it is a candidate of; nil if that is no member's.
	process *elected
}

// action is one action of a leader.
type action struct {
	history.Acted
	seq, at, revision int64
	// after is when it was written at the earliest, by the clocks of who wrote before it.
	after int64
}

// term is in which term it acted, in words; empty where that is not known.
func (a *action) term() string {
	if a.Term == 0 {
		return ""
	}
	return fmt.Sprintf(" (term %d)", a.Term)
}

func newElections() *elections {
	return &elections{leases: map[string]*ledLease{}, candidates: map[string]*candidateSeen{}, departed: map[string]*candidateSeen{}, processes: map[string]*elected{}}
}

// take brings what is known up to date with an event. It comes last, because it
// goes by what the World knows of servers and faults.
func (e *elections) take(w *World, ev *history.Event) {
	e.moved, e.asked, e.renewed, e.declared, e.gone, e.acted = nil, nil, nil, nil, nil, nil
	switch {
	case ev.Process != nil:
		e.quietSince = ev.At
		if c := ev.Process.Change; c == history.ProcessPaused || c == history.ProcessResumed {
			e.stalledAt = ev.At
		}
		e.takeProcess(ev)
	case ev.Fault != nil, ev.Away != nil && ev.Away.Source == string(SourceEtcd) && time.Duration(ev.At-ev.From) >= recorderLag:
		// While etcd stands still nobody can renew what he holds.
		e.quietSince, e.causedAt = ev.At, ev.At
	case ev.Request != nil && ev.Request.Class == history.ClassElection:
		e.quietSince = ev.At
		if !strings.HasPrefix(own(ev.Request.Name), ownPrefix) {
			e.causedAt = ev.At
		}
	case ev.Step != nil && ev.Step.Action != holdAction:
		e.causedAt = ev.At
	case ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, candidatePrefix):
		e.takeCandidate(w, ev)
	case ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, leasePrefix):
		e.takeLease(w, ev)
	case ev.Stored != nil && ev.Stored.Acted != nil:
		e.takeAction(ev)
	}
	e.date(w, ev)
}

// date notes the times in what etcd tells. What lies in the future says nothing of when
// it was written.
func (e *elections) date(w *World, ev *history.Event) {
	if ev.Stored == nil {
		return
	}
	var told []time.Time
	if l := ev.Stored.Lease; l != nil {
		told = append(told, l.Renewed)
	}
	if c := ev.Stored.Candidate; c != nil {
		told = append(told, c.Renewed, c.Pinged)
	}
	for _, t := range told {
		if at := w.since(t); at <= ev.At {
			e.dated = max(e.dated, at)
		}
	}
}

func (e *elections) takeProcess(ev *history.Event) {
	p := ev.Process
	if p.Component != history.ComponentControllerManager && p.Component != history.ComponentScheduler {
		e.causedAt = ev.At
		return
	}
	key := ev.Member + "/" + p.Component
	known := e.processes[key]
	if known == nil || p.Change == history.ProcessStarted {
		one := &elected{member: ev.Member, component: p.Component, instance: p.Instance, release: p.Release, startSeq: ev.Seq, startedAt: ev.At}
		if known != nil {
			one.before, one.follows = known.release, !known.alive && known.follows
		}
		known = one
		e.processes[key] = known
	}
	switch p.Change {
	case history.ProcessStarted:
		known.alive = true
	case history.ProcessExited:
		known.alive, known.follows = false, known.deposed && !p.Expected
	case history.ProcessPaused:
		known.paused = true
	case history.ProcessResumed:
		known.paused = false
	}
	if ends := p.Change == history.ProcessStarted || p.Change == history.ProcessExited; !ends || !known.follows {
		e.causedAt = ev.At
	}
}

func (e *elections) takeCandidate(w *World, ev *history.Event) {
	s := ev.Stored
	name := strings.TrimPrefix(s.Key, candidatePrefix)
	c := e.candidates[name]
	if s.Type == history.StoredDelete {
		if c != nil {
			c.gone = true
			delete(e.candidates, name)
			e.gone = c
			e.departs(c, ev.At)
			e.changed(ev, c, "gone")
		}
		return
	}
	if s.Candidate == nil {
		return
	}
	namespace, _, _ := strings.Cut(name, "/")
	if c == nil {
		c = &candidateSeen{name: name, lease: namespace + "/" + s.Candidate.Lease, created: ev.At, createdSeq: ev.Seq, unasked: ev.At, unaskedSeq: ev.Seq}
		if member := w.memberOfHost(own(name)); member != "" {
			c.process = e.processes[member+"/"+componentOf(c.lease)]
		}
		e.candidates[name] = c
		e.declared = c
	}
	delete(e.departed, name)
	e.tells = e.tells || s.Candidate.Coordinator != ""
	before := c.now
	c.now = *s.Candidate
	if e.declared != nil {
		e.changed(ev, c, "declared")
	}
	if !c.now.Renewed.Equal(before.Renewed) {
		if c.unprompted = e.declared == nil && before.Answered(); c.unprompted {
			c.before, c.beforeSeq, c.unasked, c.unaskedSeq = c.unasked, c.unaskedSeq, ev.At, ev.Seq
		}
		c.renewed, c.renewedSeq = ev.At, ev.Seq
		e.renewed = c
	}
	if !c.now.Pinged.Equal(before.Pinged) {
		c.pinged, c.pingedSeq, c.answered = ev.At, ev.Seq, 0
		e.asked = c
	}
	if c.answered == 0 && c.pinged > 0 && c.now.Answered() {
		c.answered = ev.At
	}
	switch {
	case !c.now.Answered() && c.silent == 0:
		c.silent = ev.At
	case c.now.Answered() && c.silent > 0:
		if time.Duration(ev.At-c.silent) > answersWithin {
			c.lateSeq = ev.Seq
		}
		c.silent = 0
	}
}

// changed notes that a candidate of a member's process has come or gone. That is a reason
// for an election once for each. One that goes because it has lost a Lease is none, and
// one that comes back after that is a reason only if it is better than who leads.
func (e *elections) changed(ev *history.Event, c *candidateSeen, how string) {
	if c.process == nil || c.gone && c.process.deposed || !e.changes.first(how+" "+c.name) {
		return
	}
	if l := e.leases[c.lease]; c.process.follows && l != nil {
		if leader := e.leaderOf(l); leader != nil && !older(c, leader) {
			return
		}
	}
	e.causedAt = ev.At
}

// departs remembers a candidate that has gone, and forgets who went long ago.
func (e *elections) departs(c *candidateSeen, at int64) {
	c.goneAt = at
	e.departed[c.name] = c
	if len(e.departed) > keptDeparted {
		first := c
		for _, other := range e.departed {
			if other.createdSeq < first.createdSeq {
				first = other
			}
		}
		delete(e.departed, first.name)
	}
}

// keptDeparted bounds how many candidates are remembered that have gone.
const keptDeparted = 256

// departedOf is the candidate that a holder was before it went; nil if that is none.
func (e *elections) departedOf(l *ledLease, holder string) *candidateSeen {
	return among(e.departed, l, holder)
}

// own is a name without its namespace.
func own(name string) string { return name[strings.Index(name, "/")+1:] }

// componentOf is whose Lease it is. The scheduler's is its own; all others belong
// to what the controller managers run.
func componentOf(lease string) string {
	if lease == schedulerLease {
		return history.ComponentScheduler
	}
	return history.ComponentControllerManager
}

func (e *elections) takeLease(w *World, ev *history.Event) {
	s := ev.Stored
	key := strings.TrimPrefix(s.Key, leasePrefix)
	l := e.leases[key]
	switch {
	case s.Lease != nil && s.Lease.Identity:
		return // nobody leads by it
	case l == nil && s.Lease == nil:
		return
	case l == nil:
		l = &ledLease{key: key, takenAt: map[string]int64{}, actors: map[string]*action{}}
		e.leases[key] = l
	}
	move := &leaseMove{lease: l, before: l.now, beforeSeq: l.seq, beforeAt: l.at, from: l.last, afterDeletion: l.deleted, free: l.freeSince, freeSeq: l.freeSeq}
	held := holderOf(l.now)
	l.now, l.seq, l.at, l.revision = s.Lease, ev.Seq, ev.At, s.Revision
	holds := holderOf(l.now)
	move.deleted = l.now == nil
	move.taken = holds != "" && holds != held
	move.released = !move.deleted && held != "" && holds == ""
	move.marked = l.now != nil && l.now.Preferred != "" && (move.before == nil || move.before.Preferred != l.now.Preferred)
	l.deleted = l.deleted && holds == "" || move.deleted
	if held != "" && (holds != held || l.now.Preferred != "" && l.now.Preferred != held) {
		// What was started since he took it is another one.
		if p := e.processes[w.memberOfHost(held)+"/"+componentOf(key)]; p != nil && p.startedAt < l.since {
			p.deposed = true
		}
	}
	switch {
	case move.taken:
		l.since, l.shown = ev.At, !e.byCoordinator(l.now)
	case holds != "" && !move.marked && l.now.Renewed.After(move.before.Renewed):
		l.shown = true
	}
	switch {
	case holds != "":
		if move.taken {
			l.takenAt[holds] = s.Revision
			if p := e.processes[w.memberOfHost(holds)+"/"+componentOf(key)]; p != nil {
				p.deposed = false
			}
		}
		l.last, l.freeSince, l.freeSeq = holds, 0, 0
	case l.freeSince == 0:
		l.freeSince, l.freeSeq = ev.At, ev.Seq
	}
	if l.now != nil && l.now.Coordinator != "" {
		e.tells = true
	}
	e.moved = move
}

// lastOn is who has taken the Lease last of those on a host; empty if none has.
func (l *ledLease) lastOn(host string) string {
	last := ""
	for holder, taken := range l.takenAt {
		if history.Host(holder) == host && (last == "" || taken > l.takenAt[last]) {
			last = holder
		}
	}
	return last
}

// same is whether the holder of a Lease is the one that something is known of, which
// may be no more than the host that it runs on.
func same(holder, known string) bool {
	return known != "" && (holder == known || history.Host(holder) == known)
}

func holderOf(l *history.Lease) string {
	if l == nil {
		return ""
	}
	return l.Holder
}

func (e *elections) takeAction(ev *history.Event) {
	a := &action{Acted: *ev.Stored.Acted, seq: ev.Seq, at: ev.At, revision: ev.Stored.Revision, after: e.dated}
	l := e.leases[a.Lease]
	if l == nil {
		return
	}
	if a.Holder == "" {
		// Whoever has never had the Lease is known by no other name.
		a.Holder = cmp.Or(l.lastOn(a.Host), a.Host)
	}
	if before := l.actors[a.Holder]; before != nil && before.Acted == a.Acted {
		return // somebody else has written to the object
	}
	l.actors[a.Holder] = a
	e.acted = a
	l.shown = l.shown || a.Holder == holderOf(l.now)
}

// expires is when a Lease ends unless it is renewed, on the time base of the
// history, by the clock of who renewed it.
func (w *World) expires(l *history.Lease) int64 {
	return w.since(l.Renewed) + int64(l.Duration)*int64(time.Second)
}

// since is a time that somebody has written, on the time base of the history. What
// makes no sense there is far enough away, and can still be reckoned with.
func (w *World) since(t time.Time) int64 {
	return int64(min(max(t.Sub(w.Header.Started), -longAgo), longAgo))
}

// held is whether a Lease has a holder who is to be believed at a time.
func (w *World) held(l *ledLease, now int64) bool {
	return holderOf(l.now) != "" && now < w.expires(l.now)
}

// led is whether a Lease has a leader who has shown that he is there.
func (w *World) led(l *ledLease) bool { return l.shown && w.held(l, w.Now) }

// takesUp is whether somebody was named a moment ago who may yet show that he is there.
func (w *World) takesUp(l *ledLease) bool {
	if l.shown || !w.held(l, w.Now) || time.Duration(w.Now-l.since) > takesUpWithin {
		return false
	}
	k := w.elections.candidateOf(l, l.now.Holder)
	return k != nil && (k.process == nil || k.process.alive)
}

// healthy is whether a candidate stands ready at this moment, as far as can be
// told from outside: it has answered, and its process could do what it has to.
func (w *World) healthy(c *candidateSeen) bool {
	return c != nil && c.now.Answered() && w.present(c)
}

// present is healthy, whether it has answered or not.
func (w *World) present(c *candidateSeen) bool {
	if c.gone || w.dead(c) {
		return false
	}
	if strings.HasPrefix(own(c.name), ownPrefix) {
		return true
	}
	return c.process != nil && c.process.alive && !c.process.paused && c.created >= c.process.startedAt &&
		w.serves(c.process.member) && !w.faulty(c.process.member)
}

// dead is whether a candidate has not renewed for so long that it is none.
func (w *World) dead(c *candidateSeen) bool {
	return time.Duration(w.Now)-c.now.Renewed.Sub(w.Header.Started) > candidateValidity
}

// of are the candidates of a Lease.
func (e *elections) of(lease string) []*candidateSeen {
	var out []*candidateSeen
	for _, c := range e.candidates {
		if c.lease == lease {
			out = append(out, c)
		}
	}
	sortCandidates(out)
	return out
}

// candidateOf is the candidate that holds a Lease; nil if that is none.
func (e *elections) candidateOf(l *ledLease, holder string) *candidateSeen {
	return among(e.candidates, l, holder)
}

// among is the one of some candidates, by namespace and name, that a holder of a Lease is.
func among(candidates map[string]*candidateSeen, l *ledLease, holder string) *candidateSeen {
	namespace, _, _ := strings.Cut(l.key, "/")
	c := candidates[namespace+"/"+holder]
	if c == nil || c.lease != l.key {
		return nil
	}
	return c
}

// leaderOf is the candidate that holds a Lease, or that held it last if nobody does; it
// may have withdrawn. It is nil if that is none.
func (e *elections) leaderOf(l *ledLease) *candidateSeen {
	return cmp.Or(e.candidateOf(l, l.last), e.departedOf(l, l.last))
}

// candidateBy is how a process stands for a Lease; nil if it does not.
func (e *elections) candidateBy(l *ledLease, p *elected) *candidateSeen {
	for _, c := range e.of(l.key) {
		if p != nil && c.process == p {
			return c
		}
	}
	return nil
}

// byCoordinator is whether a coordinator has written what a Lease says now, and
// not an instance on its own account.
func (e *elections) byCoordinator(l *history.Lease) bool {
	return l != nil && l.Strategy != "" && (!e.tells || l.Coordinator != "")
}

// coordinated are the Leases of components that have candidates of the members,
// in the order of their names.
func (e *elections) coordinated() []*ledLease {
	seen := map[string]bool{}
	for _, c := range e.candidates {
		if c.process != nil {
			seen[c.lease] = true
		}
	}
	return e.sorted(func(l *ledLease) bool { return seen[l.key] })
}
