//go:build linux

package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Units are the processes of a member's components, as its agent tells of them.
// The kubelet may start one again at any time.
type Units struct {
	member  string
	observe cluster.Observer

	mu    sync.Mutex
	of    map[cluster.Component]*unit
	seen  map[cluster.Process]bool
	moved chan struct{} // closed and replaced at each change
	// release is what a process that appears is taken for.
	release string
	// powerCuts counts them: what was told over a connection from before one is
	// of processes that are gone with it.
	powerCuts int
	// before is what happened before the agent was asked, while that is still being told of
	// processes that the harness has found; nil afterwards, and where it starts them all.
	before *[]Event
}

// unit is one component.
type unit struct {
	instance int
	exits    int // since the last start on request
	// expected is whether the end of its processes was asked for, and once whether
	// only that of the process that runs was.
	expected, once bool
	// forced is whether an orderly stop took longer than its bound.
	forced bool
	// off are the features that its processes are started without.
	off []cluster.Feature
	now *liveProcess
	// given is whether the next process that is told of may have run before.
	given bool
}

type liveProcess struct {
	process  cluster.Process
	instance int
	release  string
	off      []cluster.Feature
	paused   bool
	// byNode is whether it is paused because its node is.
	byNode bool
}

// NewUnits knows no process yet.
func NewUnits(member string, components []cluster.Component, release string, observe cluster.Observer) *Units {
	u := &Units{
		member: member, observe: observe, release: release,
		of: map[cluster.Component]*unit{}, seen: map[cluster.Process]bool{}, moved: make(chan struct{}),
	}
	for _, component := range components {
		u.of[component] = &unit{}
	}
	return u
}

// Found has the first process of each component count as one that may have run before the agent
// was asked, unless the harness starts it. Of what ended before it was asked nothing is told: an
// agent may be older than the run, and remember the one before.
func (u *Units) Found() *Units {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, one := range u.of {
		one.given = true
	}
	u.before = &[]Event{}
	return u
}

// Listener gives what takes in the events of one connection to the agent. It
// must be asked for before the connection is made.
func (u *Units) Listener() func(Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	cuts := u.powerCuts
	if u.before != nil {
		u.before = &[]Event{} // what the connection before this one told of it may be a part
	}
	return func(event Event) {
		u.mu.Lock()
		defer u.mu.Unlock()
		switch {
		case cuts != u.powerCuts:
		case u.before == nil:
			u.told(event)
		case event.Now:
			u.catchUp()
		default:
			*u.before = append(*u.before, event)
		}
	}
}

// catchUp takes in what happened before the agent was asked: of that only what has not ended. The
// lock is held.
func (u *Units) catchUp() {
	before := *u.before
	u.before = nil
	for _, event := range before {
		if event.Gone {
			u.seen[cluster.Process{PID: event.PID, StartTime: event.StartTime}] = true
		}
	}
	for _, event := range before {
		u.told(event)
	}
}

// told takes in what the agent tells. It tells all of it again after a
// connection was lost. The lock is held.
func (u *Units) told(event Event) {
	one, ok := u.of[event.Component]
	if !ok {
		return
	}
	process := cluster.Process{PID: event.PID, StartTime: event.StartTime}
	switch {
	case event.Gone && one.now != nil && one.now.process == process:
		u.gone(event.Component, one, event.late())
	case !event.Gone && !u.seen[process]:
		if one.now != nil {
			// Its end has not been told yet, and there is never more than one.
			u.gone(event.Component, one, 0)
		}
		u.seen[process] = true
		if one.once {
			one.expected, one.once = false, false
		}
		one.instance++
		one.now = &liveProcess{process: process, instance: one.instance, release: u.release, off: one.off}
		u.tell(event.Component, one.now, history.ProcessStarted, cluster.Change{Ago: event.late(), Given: one.given})
		one.given = false
	}
}

// gone notes the end of a component's process, so long ago if that is told late; the lock is held.
func (u *Units) gone(component cluster.Component, one *unit, ago time.Duration) {
	ended := one.now
	one.now = nil
	one.exits++
	u.tell(component, ended, history.ProcessExited, cluster.Change{Ago: ago, Exit: history.ExitUnseen, Expected: one.expected, Forced: one.forced})
}

// Stopping notes that the component's process is about to be sent SIGTERM.
func (u *Units) Stopping(component cluster.Component) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if one := u.of[component]; one.now != nil {
		u.tell(component, one.now, history.ProcessStopping, cluster.Change{})
	}
}

// Forcing notes that an orderly stop took longer than its bound.
func (u *Units) Forcing(component cluster.Component) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.of[component].forced = true
}

// tell reports a change of a process; the lock is held, so changes are told in their order.
func (u *Units) tell(component cluster.Component, of *liveProcess, what string, change cluster.Change) {
	close(u.moved)
	u.moved = make(chan struct{})
	if u.observe == nil {
		return
	}
	change.Member, change.Component, change.What, change.Instance = u.member, component, what, of.instance
	change.Process, change.Release, change.Off = of.process, of.release, of.off
	u.observe(change)
}

// PowerLost notes that all processes are gone at once.
func (u *Units) PowerLost() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.powerCuts++
	for component, one := range u.of {
		if one.now != nil {
			u.gone(component, one, 0)
		}
	}
}

// Process that runs now.
func (u *Units) Process(component cluster.Component) (cluster.Process, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	one, ok := u.of[component]
	if !ok || one.now == nil {
		return cluster.Process{}, false
	}
	return one.now.process, true
}

// None is whether no component has a process.
func (u *Units) None() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, one := range u.of {
		if one.now != nil {
			return false
		}
	}
	return true
}

// Frozen notes that the whole node stands still or goes on. A process that was
// Paused by itself before is so afterwards.
func (u *Units) Frozen(stopped bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for component, one := range u.of {
		now := one.now
		if now == nil || now.paused == stopped || now.paused && !now.byNode {
			continue
		}
		now.paused, now.byNode = stopped, stopped
		u.tellPaused(component, now)
	}
}

// tellPaused reports whether a process is paused; the lock is held.
func (u *Units) tellPaused(component cluster.Component, now *liveProcess) {
	what := history.ProcessResumed
	if now.paused {
		what = history.ProcessPaused
	}
	u.tell(component, now, what, cluster.Change{})
}

// Has is whether the member has such a component.
func (u *Units) Has(component cluster.Component) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, ok := u.of[component]
	return ok
}

// Starting prepares for processes at the release: from here on an end is not
// expected.
func (u *Units) Starting(component cluster.Component, release string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.release = release
	u.of[component].expected, u.of[component].once, u.of[component].forced, u.of[component].exits = false, false, false, 0
	u.of[component].given = false
}

// Replacing makes the end of the component's process expected, and not that of the one
// which comes in its place.
func (u *Units) Replacing(component cluster.Component) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.of[component].expected, u.of[component].once = true, true
}

// Without has the component's next processes count as started without the features.
func (u *Units) Without(component cluster.Component, off []cluster.Feature) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.of[component].off = off
}

// Ending makes the end of a component's processes expected.
func (u *Units) Ending(component cluster.Component) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.of[component].expected, u.of[component].once = true, false
}

// Exits since the last start on request.
func (u *Units) Exits(component cluster.Component) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.of[component].exits
}

// Paused notes that the process was stopped or goes on.
func (u *Units) Paused(component cluster.Component, process cluster.Process, stopped bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.of[component].now
	if now == nil || now.process != process || now.paused == stopped {
		return
	}
	now.paused = stopped
	u.tellPaused(component, now)
}

// Await waits until the condition holds, which is asked at each change.
func (u *Units) Await(ctx context.Context, holds func() bool) error {
	for {
		u.mu.Lock()
		moved := u.moved
		u.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// AwaitGone waits until the component has no process.
func (u *Units) AwaitGone(ctx context.Context, component cluster.Component) error {
	ctx, cancel := context.WithTimeoutCause(ctx, endBound, fmt.Errorf("it has not ended after %s", endBound))
	defer cancel()
	return u.Await(ctx, func() bool { _, runs := u.Process(component); return !runs })
}
