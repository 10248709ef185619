package scenario

import (
	"strings"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// triggerState is what a Trigger has seen of the history so far.
type triggerState interface {
	// take sees one more event. It says whether the state that the trigger waits for is there
	// now, and, if it is, of which host, member or holder, as far as that is known.
	take(ev *history.Event) (met bool, who string)
	// arm forgets what was counted: only what follows counts.
	arm()
}

// triggers evaluates triggers as events are recorded.
type triggers struct {
	mu      sync.Mutex
	waiting []*armed
}

// armed is a trigger that is evaluated.
type armed struct {
	state triggerState
	on    bool
	// met is closed when the state has come about since the trigger was armed, and who is of
	// whom.
	met  chan struct{}
	who  string
	once bool
}

// add has a trigger evaluated. It counts from when arm is called on.
func (t *triggers) add(state triggerState) *armed {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := &armed{state: state, met: make(chan struct{})}
	t.waiting = append(t.waiting, one)
	return one
}

func (t *triggers) arm(one *armed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one.state.arm()
	one.on = true
}

// take shows all triggers an event.
func (t *triggers) take(ev *history.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.waiting {
		met, who := one.state.take(ev)
		if met && one.on && !one.once {
			one.once, one.who = true, who
			close(one.met)
		}
	}
}

// hearing is a History that shows triggers what is recorded.
type hearing struct {
	History
	triggers *triggers
}

func (h hearing) Record(ev history.Event) {
	h.History.Record(ev)
	h.triggers.take(&ev)
}

// of is whether a key is the one that a trigger names, or begins with it.
func of(named, key string) bool {
	return key == named || strings.HasSuffix(named, "/") && strings.HasPrefix(key, named)
}

// writes counts the writes of a WriteTrigger.
type writes struct {
	*WriteTrigger
	before map[string]*history.Stored
	seen   int
}

func (w *writes) arm() { w.seen = 0 }

func (w *writes) take(ev *history.Event) (met bool, who string) {
	s := ev.Stored
	if s == nil || !of(w.Key, s.Key) {
		return false, ""
	}
	before := w.before[s.Key]
	w.before[s.Key] = s
	deleted := s.Type == history.StoredDelete
	if deleted {
		delete(w.before, s.Key)
	}
	if s.Revision < w.Revision || w.Deleted != deleted {
		return false, ""
	}
	counts, who := w.by(before, s)
	if !counts {
		return false, ""
	}
	w.seen++
	return w.seen == max(w.Count, 1), who
}

// by is whether the writer counts, and who it was.
func (w *writes) by(before, now *history.Stored) (counts bool, who string) {
	switch w.By {
	case byHarness:
		return now.Writer != "", now.Writer
	case byCoordinator:
		return coordinated(before, now)
	case byHolder:
		return renewed(before, now)
	}
	if now.Lease != nil {
		return true, now.Lease.Holder
	}
	return true, now.Writer
}

// coordinated is whether a coordinator made a change: it gave a coordinated Lease a holder or a
// preferred holder, or pinged a candidate (KEP-4355).
func coordinated(before, now *history.Stored) (is bool, who string) {
	switch {
	case now.Candidate != nil:
		if before == nil || before.Candidate == nil {
			return false, "" // the candidate itself creates it
		}
		return now.Candidate.Pinged.After(before.Candidate.Pinged), now.Candidate.Coordinator
	case now.Lease == nil || now.Lease.Strategy == "":
		return false, ""
	case before == nil || before.Lease == nil:
		return true, now.Lease.Coordinator
	}
	was, after := before.Lease, now.Lease
	given := after.Holder != was.Holder && after.Holder != ""
	marked := after.Preferred != was.Preferred && after.Preferred != ""
	return given || marked, after.Coordinator
}

// renewed is whether the holder of a Lease renewed or released it.
func renewed(before, now *history.Stored) (is bool, who string) {
	if before == nil || before.Lease == nil || now.Lease == nil || before.Lease.Holder == "" {
		return false, ""
	}
	was, after := before.Lease, now.Lease
	if after.Holder == "" {
		return true, was.Holder
	}
	return after.Holder == was.Holder && after.Renewed.After(was.Renewed), after.Holder
}

// elections follows the holder of a Lease.
type elections struct {
	key  string
	last *history.Lease
	// unrenewed is whether the holder is new and has not renewed the Lease yet.
	unrenewed bool
}

func (e *elections) arm() {}

func (e *elections) take(ev *history.Event) (met bool, who string) {
	s := ev.Stored
	if s == nil || s.Key != e.key {
		if e.unrenewed {
			return true, e.last.Holder // armed only after the election
		}
		return false, ""
	}
	before := e.last
	e.last = s.Lease
	if s.Lease == nil || s.Lease.Holder == "" {
		e.last, e.unrenewed = nil, false
		return false, ""
	}
	switch {
	case before == nil || before.Holder != s.Lease.Holder:
		e.unrenewed = true
	case s.Lease.Renewed.After(before.Renewed):
		e.unrenewed = false
	}
	return e.unrenewed, s.Lease.Holder
}

// existence follows whether there are keys.
type existence struct {
	key   string
	there map[string]bool
}

func (e *existence) arm() {}

func (e *existence) take(ev *history.Event) (met bool, who string) {
	if s := ev.Stored; s != nil && of(e.key, s.Key) {
		if s.Type == history.StoredDelete {
			delete(e.there, s.Key)
		} else {
			e.there[s.Key] = true
		}
	}
	return len(e.there) > 0, ""
}

// phases follows a component of a member.
type phases struct {
	member, component, wanted string
	phase                     string
	// entered is whether it has come into the wanted phase since the trigger was armed.
	entered bool
}

func (p *phases) arm() { p.entered = false }

func (p *phases) take(ev *history.Event) (met bool, who string) {
	if now := p.of(ev); now != "" {
		p.entered = p.entered || now == p.wanted && now != p.phase
		p.phase = now
	}
	return p.entered, p.member
}

// of is the phase that an event shows; empty if it shows none. A process that has started is
// unready until it answers, which only a trigger of readiness has to know.
func (p *phases) of(ev *history.Event) string {
	ofReadiness := p.wanted == phaseReady || p.wanted == phaseUnready
	switch {
	case ev.Member != p.member:
		return ""
	case ev.Process != nil && ev.Process.Component == p.component && !ofReadiness:
		if ev.Process.Change == history.ProcessResumed {
			return history.ProcessStarted
		}
		return ev.Process.Change
	case ev.Process != nil && ev.Process.Component == p.component && ev.Process.Change == history.ProcessExited:
		return phaseUnready
	case ev.Ready != nil && ofReadiness && ev.Ready.Code == readyCode:
		return phaseReady
	case ev.Ready != nil && ofReadiness:
		return phaseUnready
	}
	return ""
}

// readyCode is the HTTP status of an API server that is ready.
const readyCode = 200
