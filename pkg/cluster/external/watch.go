package external

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// watch notices when another API server answers than before, until the context ends.
func (m *member) watch(ctx context.Context) {
	var named time.Time // when it was asked last who it is
	away := false
	for ctx.Err() == nil {
		switch {
		case m.asker.alive(ctx) != nil:
			if ctx.Err() == nil && away {
				m.silent() // twice in a row: once may be chance
			}
			away = true
		case away || time.Since(named) >= nameAgain:
			if read, err := m.asker.metrics(ctx); err == nil {
				m.seen(ctx, read.start)
				named, away = time.Now(), false
			}
		}
		m.pause(ctx, away)
	}
}

// pause waits until it is worth looking again.
func (m *member) pause(ctx context.Context, away bool) {
	interval := lookSlow
	if away || m.awaited() {
		interval = lookFast
	}
	timer := time.NewTimer(interval)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-m.woken:
	case <-ctx.Done():
	}
}

// awaited is whether an operation waits for the process to go.
func (m *member) awaited() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ending && m.runs
}

// wake has the watch look at once.
func (m *member) wake() {
	select {
	case m.woken <- struct{}{}:
	default:
	}
}

// silent notes that no server answers. That alone says little: the process may be frozen
// or cut off. It is gone only if a hook was to end it.
func (m *member) silent() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ending && m.runs && len(m.paused) == 0 && !m.cut {
		m.exit("it was to end, and does not answer any more")
	}
}

// seen notes which process answers, by when that was started.
func (m *member) seen(ctx context.Context, start int64) {
	m.mu.Lock()
	known := m.instance > 0 && m.process.StartTime == start
	if known && !m.runs && !m.undead {
		// The word of the hook that ended it was not true, and nothing that follows from
		// it may be believed.
		m.undead = true
		m.tell(cluster.Change{What: history.ProcessExited, Release: m.release, Exit: "the process that a hook was to have ended answers again"})
	}
	m.mu.Unlock()
	if known {
		return
	}
	other, err := m.strayed(ctx, start)
	if err != nil {
		return // it is seen again soon
	}
	if other != "" {
		m.lost(other)
		return
	}
	version, err := m.asker.version(ctx)
	if err != nil {
		return // it is seen again soon
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs {
		m.exit("another process answers in its place")
	}
	m.process, m.runs, m.undead = cluster.Process{StartTime: start}, true, false
	m.instance++
	first := m.instance == 1
	m.release = version
	if release, ok := m.cluster.named(version); ok {
		m.release = release
	}
	m.tell(cluster.Change{What: history.ProcessStarted, Release: m.release, Given: first})
	m.announce()
}

// strayed is the other member whose API server answers at this one's address, as it does
// behind an address that moves from node to node; empty if none does.
func (m *member) strayed(ctx context.Context, start int64) (string, error) {
	for _, other := range m.cluster.members {
		other.mu.Lock()
		suspicious := other != m && other.runs && other.process.StartTime == start
		other.mu.Unlock()
		if !suspicious {
			continue
		}
		if same, err := sameProcess(ctx, other.asker, m.asker); same || err != nil {
			return other.name, err
		}
	}
	return "", nil
}

// lost notes that another member's API server answers in the place of this one's, of which
// nothing can be known then: what follows from what it seemed to answer may not be believed.
func (m *member) lost(other string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs || !m.undead {
		m.runs, m.undead = false, true
		m.tell(cluster.Change{What: history.ProcessExited, Release: m.release, Exit: "the API server of " + other + " answers at its address"})
		m.announce()
	}
}

// exit notes that the process is gone; it must be called with the lock held.
func (m *member) exit(how string) {
	m.runs = false
	m.tell(cluster.Change{What: history.ProcessExited, Release: m.release, Exit: how, Expected: m.ending})
	m.announce()
}

// tell tells the observer of a change of the API server; it must be called with the
// lock held.
func (m *member) tell(change cluster.Change) {
	if m.node != nil {
		return // its agent sees the process, and tells of it
	}
	change.Member, change.Component, change.Noticed = m.name, cluster.APIServer, true
	change.Instance, change.Process = m.instance, m.process
	m.cluster.observe(change)
}

// announce wakes who waits; it must be called with the lock held.
func (m *member) announce() {
	close(m.moved)
	m.moved = make(chan struct{})
}

// await waits until something holds of the member.
func (m *member) await(ctx context.Context, holds func() bool) error {
	for {
		m.mu.Lock()
		met, moved := holds(), m.moved
		m.mu.Unlock()
		if met {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// awaitGone waits until the process does not answer any more.
func (m *member) awaitGone(ctx context.Context) error {
	late := fmt.Errorf("its API server still answers %s after the hook has ended", goneBound)
	ctx, cancel := context.WithTimeoutCause(ctx, goneBound, late)
	defer cancel()
	m.wake()
	return m.await(ctx, func() bool { return !m.runs })
}

// awaitOther waits until another process than the one before answers that it is ready.
// If none does, it is a cluster.Unready: the hook has ended without an error.
func (m *member) awaitOther(ctx context.Context, before cluster.Process) error {
	began := time.Now()
	waiting, cancel := context.WithTimeout(ctx, readyBound)
	defer cancel()
	m.wake()
	err := m.await(waiting, func() bool { return m.runs && m.process != before })
	if err != nil {
		err = errors.New("no other process than before has answered")
	} else if err = m.awaitReady(waiting); err == nil {
		return nil
	}
	if ctx.Err() != nil && !cluster.TimedOut(ctx) {
		return context.Cause(ctx)
	}
	return &cluster.Unready{
		Member: m.name, Component: cluster.APIServer, Waited: time.Since(began), Bound: readyBound,
		What: fmt.Sprintf("was not ready as another process than before within %s of the end of the hook: %v", readyBound, err),
	}
}

// awaitReady waits until the member's API server says that it is ready.
func (m *member) awaitReady(ctx context.Context) error {
	for {
		err := m.asker.ready(ctx)
		if err == nil {
			return nil
		}
		timer := time.NewTimer(readyPoll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(context.Cause(ctx), err)
		}
	}
}
