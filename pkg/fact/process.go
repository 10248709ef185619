package fact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// Process is one process of a component.
type Process struct {
	Member, Component string
	// Instance counts the processes of the member's component from 1.
	Instance int
	Release  string
	// Off are the features that it was started without.
	Off     []string
	Started Moment
	// Stopping is when the harness told it to end, nil if it did not.
	Stopping *Moment
	// Exited is nil while it lives; Expected is whether the harness ended it, and Exit says
	// how it ended. Untold is whether nothing told of its end but the next process, so that
	// it is not known who ended it.
	Exited   *Moment
	Expected bool
	Exit     string
	Untold   bool
	// Log are the last lines of its log where it ended by itself, if they are known.
	Log []string
	// Before and After are the processes of the same component before and after it; nil
	// where there is none.
	Before, After *Process
	// paused is since when it is stopped, until it goes on.
	paused Builder
}

// Without is whether it was started without a feature.
func (p *Process) Without(feature string) bool { return slices.Contains(p.Off, feature) }

// EndedItself is whether it ended, and not because the harness or a signal of the
// harness ended it. Where only the container runtime knows how it ended, the harness
// knows what it did itself.
func (p *Process) EndedItself() bool { return p.Exited != nil && !p.Expected }

// GaveUp is whether it ended by itself with a failure, as a leader does that lost its
// Lease.
func (p *Process) GaveUp() bool {
	failed := strings.HasPrefix(p.Exit, "exit status ") && p.Exit != "exit status 0"
	return p.EndedItself() && (failed || p.Exit == history.ExitUnseen)
}

// HowEnded is how it ended, in words.
func (p *Process) HowEnded() string {
	if p.Untold {
		return "only the next start tells of it"
	}
	return cmp.Or(p.Exit, "how is not known")
}

// Alive is while it lives, paused or not.
func (p *Process) Alive() Signal { return Between(p.Started, p.Exited) }

// Running is while it lives, is not paused and was not told to end. One that was may live on for a
// while, and no longer does its work: a controller gives its Lease up first.
func (p *Process) Running() Signal {
	return And(Between(p.Started, cmp.Or(p.Stopping, p.Exited)), Not(p.paused.Signal()))
}

// Paused is while it is stopped and not ended.
func (p *Process) Paused() Signal { return And(p.Alive(), p.paused.Signal()) }

// Lived is whether it lived at a moment.
func (p *Process) Lived(m Moment) Truth { return p.Alive().During(m) }

type processKey struct{ member, component string }

type processes struct {
	all []*Process
	of  map[processKey][]*Process
	// stalls are when a process was paused or resumed.
	stalls []Moment
}

func newProcesses() processes { return processes{of: map[processKey][]*Process{}} }

func (ps *processes) observe(ev *history.Event) {
	p := ev.Process
	key := processKey{ev.Member, p.Component}
	at := momentOf(ev)
	switch {
	case ev.Given:
	case ev.From > 0: // it is told late, with when it was
		at = Exactly(ev.From, ev.Seq)
	case p.Change == history.ProcessStopping: // the harness tells of it before it does it
	default:
		at.Earliest = max(ev.At-int64(processDelay), 0)
	}
	last := ps.last(ev.Member, p.Component)
	switch p.Change {
	case history.ProcessStarted:
		started := &Process{Member: ev.Member, Component: p.Component, Instance: p.Instance, Release: p.Release, Off: p.DisabledFeatures, Started: at, Before: last}
		if last != nil {
			last.After = started
			if last.Exited == nil {
				// They share an address, so the one before has gone.
				gone := at
				last.Exited, last.Expected, last.Untold = &gone, true, true
			}
		}
		ps.all = append(ps.all, started)
		ps.of[key] = append(ps.of[key], started)
	case history.ProcessStopping:
		if last != nil {
			last.Stopping = &at
		}
	case history.ProcessExited:
		for _, one := range ps.of[key] {
			if one.Instance != p.Instance || one.Exited != nil && !one.Untold {
				continue
			}
			if one.Untold { // it had gone when the next one started, and is told of only now
				at = *one.Exited
				at.Seq = ev.Seq
			}
			one.Exited, one.Expected, one.Exit, one.Log, one.Untold = &at, p.Expected, p.Exit, p.Log, false
		}
	case history.ProcessPaused, history.ProcessResumed:
		ps.stalls = append(ps.stalls, at)
		if last != nil {
			last.paused.Set(at, Of(p.Change == history.ProcessPaused))
		}
	}
}

func (ps *processes) last(member, component string) *Process {
	if all := ps.of[processKey{member, component}]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// Processes are those of a member's component, in the order in which they started.
func (h *History) Processes(member, component string) []*Process {
	return h.processes.of[processKey{member, component}]
}

// AllProcesses are those of all members and components, in the order in which they
// started.
func (h *History) AllProcesses() []*Process { return h.processes.all }

// HarnessEnded is whether the harness ended a process. Where only the next start tells of the end,
// it may have done so if it told the process to end, or was at a step that may have ended it.
func (h *History) HarnessEnded(p *Process) Truth {
	switch {
	case !p.Untold:
		return Of(p.Exited != nil && p.Expected)
	case p.Stopping != nil, slices.ContainsFunc(h.Steps, func(s *Step) bool {
		return s.Action != ActionHold && (s.Member == "" || s.Member == p.Member) &&
			s.Began.Latest <= p.Exited.Latest && (s.Ended == nil || s.Ended.Latest >= p.Exited.Earliest)
	}):
		return Unknown
	}
	return No
}

// ProcessAt is the process of a member's component that lived at a moment. It is nil
// where none did, and where it is not certain which of two it was.
func (h *History) ProcessAt(member, component string, m Moment) *Process {
	var found *Process
	for _, p := range h.Processes(member, component) {
		switch {
		case p.Started.Earliest > m.Latest, p.Exited != nil && p.Exited.Latest < m.Earliest:
		case found != nil:
			return nil
		default:
			found = p
		}
	}
	return found
}

// LastProcess is the process of a member's component that had started last by an
// instant, alive or not; nil if none had. One that is given had, whatever was told first of
// what was there before the history.
func (h *History) LastProcess(member, component string, at int64) *Process {
	for _, p := range slices.Backward(h.Processes(member, component)) {
		if p.Started.Latest <= at || p.Started.Given() {
			return p
		}
	}
	return nil
}

// Alive is while a process of a member's component lives.
func (h *History) Alive(member, component string) Signal {
	return Or(Each(h.Processes(member, component), (*Process).Alive)...)
}

// Running is while a process of a member's component runs.
func (h *History) Running(member, component string) Signal {
	return Or(Each(h.Processes(member, component), (*Process).Running)...)
}

// Stalled is whether a process was paused or resumed between two instants: what was
// under way then may come to its end much later.
func (h *History) Stalled(from, to int64) bool {
	return slices.ContainsFunc(h.processes.stalls, func(m Moment) bool { return m.Latest >= from && m.Earliest <= to })
}
