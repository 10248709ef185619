package storageversion

import (
	"errors"
	"time"
)

// Why a server may not store objects.
var (
	errNotJoined     = errors.New("the server has not joined the participating servers")
	errLapsed        = errors.New("the server could not renew its membership in time")
	errNotRegistered = errors.New("not every storage version has been published")
	errNotWithdrawn  = errors.New("the earlier entries of this server are not withdrawn yet")
)

// standing is a server's state among the participants as far as it knows without a
// request.
type standing struct {
	// member: the identity Lease was ours when it was last read or written.
	member bool
	// renewed is when the last renewal that succeeded began, by the local
	// monotonic clock. The Lease cannot expire before a duration has passed since
	// then.
	renewed time.Time
	// registered: every storage version is published under this membership.
	registered bool
	// since is when registered became true.
	since time.Time
}

// check returns why the server may not store objects at this moment, or nil.
//
// It is a function of the time, and does not depend on another goroutine: a process
// that was paused for longer than its Lease lasts is fenced by the first check after
// the pause.
func (s standing) check(now time.Time, duration time.Duration) error {
	switch {
	case !s.member:
		return errNotJoined
	case s.lapsed(now, duration):
		return errLapsed
	case !s.registered:
		return errNotRegistered
	}
	return nil
}

// lapsed reports whether others may have taken the server for departed.
func (s standing) lapsed(now time.Time, duration time.Duration) bool {
	return now.Sub(s.renewed) >= duration
}

// joined is the standing after joining with a request that began at start.
func (s standing) joined(start time.Time) standing {
	return standing{member: true, renewed: start}
}

// renewal is the standing after a renewal that began at start and was answered
// by now. One that comes too late does not heal the membership: entries may have
// been removed in between, so the server has to join and register again.
func (s standing) renewal(start, now time.Time, duration time.Duration) (standing, error) {
	if !s.member {
		return s, errNotJoined
	}
	if s.lapsed(now, duration) {
		return standing{}, errLapsed
	}
	s.renewed = start
	return s, nil
}

// registration is the standing after everything was published.
func (s standing) registration(now time.Time, duration time.Duration) (standing, error) {
	if !s.member {
		return s, errNotJoined
	}
	if s.lapsed(now, duration) {
		return standing{}, errLapsed
	}
	s.registered, s.since = true, now
	return s, nil
}
