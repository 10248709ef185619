//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// runHeader names the run that a request to an installed agent belongs to.
const runHeader = "Evenkeel-Run"

// errNoSession is what a disruptive request without a session of its run is answered with.
var errNoSession = errors.New("the run has no session with the agent: it was never begun, or the agent heard nothing of the run for too long and has taken back what it did")

// session is the dead man's switch of an installed agent: as long as the harness renews it,
// the agent may leave its node changed.
type session struct {
	clock clock.WithTicker

	mu sync.Mutex
	// run has the session; empty where none has.
	run     string
	renewed time.Time
	// from is where the harness is, as the node sees it.
	from netip.Addr
	// bequest is what is removed from the cluster if the harness falls silent; nil is nothing.
	bequest *Bequest
}

// renew begins or renews the session of a run. One run at a time has it.
func (s *session) renew(run string, from netip.Addr, bequest *Bequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run == "" {
		return fmt.Errorf("the header %s is missing", runHeader)
	}
	if s.run != "" && s.run != run {
		return fmt.Errorf("the run %s has the agent: wait until it has ended, or %s after it was killed", s.run, SilenceBound)
	}
	// A renewal that was sent before the run made anything may arrive after one that has a bequest.
	if bequest != nil || s.run != run {
		s.bequest = bequest
	}
	s.run, s.renewed, s.from = run, s.clock.Now(), from
	return nil
}

// holds is an error unless the run has the session.
func (s *session) holds(run string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run == "" || s.run != run || s.lapsed() {
		return errNoSession
	}
	return nil
}

// lapsed is whether the harness has fallen silent; it must be called with the lock held.
func (s *session) lapsed() bool { return s.run != "" && s.clock.Since(s.renewed) > SilenceBound }

// end ends the session of a run.
func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.bequest = "", nil
}

// left is what the harness of the session has left to be removed; nil is nothing.
func (s *session) left() *Bequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bequest
}

// harness is where the harness of the session is.
func (s *session) harness() netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from
}

// silent is whether the harness has fallen silent.
func (s *session) silent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lapsed()
}

// awaitSilence returns true when the harness of a session has fallen silent, and false when
// the context ends.
func (s *session) awaitSilence(ctx context.Context) bool {
	ticker := s.clock.NewTicker(silencePoll)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return false
		}
		if s.silent() {
			return true
		}
	}
}

// remote is the address that a request came from.
func remote(r *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return from.Addr().Unmap()
}
