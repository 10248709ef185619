package storageversion

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrUnannounced says that the version in which an object was about to be stored is not
// the one that the server has announced under its present membership.
var ErrUnannounced = errors.New("the server has not announced this storage version")

// announced are the versions that this process has written to the objects under its
// current membership, by name of the object. The process reads it without a request;
// it writes the entry before it records it here.
type announced struct {
	mu       sync.Mutex
	versions map[string]string
	changed  chan struct{}
	// term counts the memberships: what was written under an earlier one may have been
	// removed with that since.
	term uint64
}

func newAnnounced() *announced {
	return &announced{versions: map[string]string{}, changed: make(chan struct{})}
}

// read is the version announced for a name, empty if there is none, and a
// channel that is closed when any of them changes.
func (a *announced) read(name string) (string, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.versions[name], a.changed
}

// errOtherTerm: the membership under which a report was written is over. Its entry may have
// been removed since, as that of a server that had left.
var errOtherTerm = errors.New("the membership under which this was published is over")

// present is the membership of now.
func (a *announced) present() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.term
}

// note records that a report is in place, or taken back if it has no entries. The term is
// the membership from before the report was written; if it is over, the report does not count.
func (a *announced) note(r report, term uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if term != a.term {
		return errOtherTerm
	}
	if len(r.entries) == 0 {
		delete(a.versions, r.name)
	} else {
		a.versions[r.name] = r.entries[0].EncodingVersion
	}
	a.tell()
	return nil
}

// withhold drops a version that a report is about to replace: from the moment that it is written
// the old version may not be stored any more, and until it is seen to be in place, the new one
// may not either. An attempt that fails may have been written all the same.
func (a *announced) withhold(r report) {
	a.mu.Lock()
	defer a.mu.Unlock()
	version, announced := a.versions[r.name]
	if announced && (len(r.entries) == 0 || r.entries[0].EncodingVersion != version) {
		delete(a.versions, r.name)
		a.tell()
	}
}

// begin drops everything: another membership begins, or the present one is over.
func (a *announced) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.term++
	clear(a.versions)
	a.tell()
}

func (a *announced) tell() {
	close(a.changed)
	a.changed = make(chan struct{})
}

// locks serializes the operations on one name. It keeps no name that is not in use.
type locks struct {
	mu    sync.Mutex
	names map[string]*nameLock
}

// nameLock is the lock of one name, with how many hold it or wait for it.
type nameLock struct {
	sync.Mutex
	users int
}

// lock returns what unlocks.
func (l *locks) lock(name string) func() {
	l.mu.Lock()
	if l.names == nil {
		l.names = map[string]*nameLock{}
	}
	one, ok := l.names[name]
	if !ok {
		one = &nameLock{}
		l.names[name] = one
	}
	one.users++
	l.mu.Unlock()
	one.Lock()
	return func() {
		one.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(l.names, name)
		}
	}
}

// MayPersistAs returns why this server may not store an object of a custom
// resource in a version at this moment, or nil if it may. The server announces all
// built-in resources before the barrier opens. It announces each custom resource
// separately, possibly long before or after, so each has its own check.
//
// KEP-2339: the extension server updates the storage version before it enables
// the handler of a custom resource, so these requests pass the barrier.
func (m *Manager) MayPersistAs(group, resource, version string) error {
	if m.config.Silent {
		return m.mayPersistSilently()
	}
	standing, now := m.place.read(), m.config.Clock.Now()
	switch {
	case !standing.member:
		return fmt.Errorf("%w: %w", ErrUnannounced, errNotJoined)
	case standing.lapsed(now, m.config.LeaseDuration):
		return fmt.Errorf("%w: %w", ErrUnannounced, errLapsed)
	}
	if got, _ := m.announced.read(Name(group, resource)); got != version {
		return fmt.Errorf("%w: %s of %s", ErrUnannounced, version, Name(group, resource))
	}
	return nil
}

// WaitAnnounced returns once the server has announced that it stores a resource
// in a version, or with the context's error.
func (m *Manager) WaitAnnounced(ctx context.Context, group, resource, version string) error {
	if m.config.Silent {
		return m.waitSilent(ctx)
	}
	for {
		got, changed := m.announced.read(Name(group, resource))
		if got == version {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%w: %s of %s", ErrUnannounced, version, Name(group, resource))
		}
	}
}
