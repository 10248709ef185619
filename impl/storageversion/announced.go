package storageversion

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrUnannounced: the version in which an object was about to be stored is not
// the one that the server has announced under its present membership.
var ErrUnannounced = errors.New("the server has not announced this storage version")

// announced are the versions that this process has written to the objects under its
// current membership, by name of the object. The process reads it without a request;
// it writes the entry before it records it here.
type announced struct {
	mu       sync.Mutex
	versions map[string]string
	changed  chan struct{}
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

// note records that a report is in place, or taken back if it has no entries.
func (a *announced) note(r report) {
	a.change(func(versions map[string]string) {
		if len(r.entries) == 0 {
			delete(versions, r.name)
			return
		}
		versions[r.name] = r.entries[0].EncodingVersion
	})
}

// forget drops everything: the membership under which it was announced is over.
func (a *announced) forget() {
	a.change(func(versions map[string]string) { clear(versions) })
}

func (a *announced) change(edit func(map[string]string)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	edit(a.versions)
	close(a.changed)
	a.changed = make(chan struct{})
}

// locks serializes the operations on one name.
type locks struct {
	mu    sync.Mutex
	names map[string]*sync.Mutex
}

// lock returns what unlocks.
func (l *locks) lock(name string) func() {
	l.mu.Lock()
	if l.names == nil {
		l.names = map[string]*sync.Mutex{}
	}
	one, ok := l.names[name]
	if !ok {
		one = &sync.Mutex{}
		l.names[name] = one
	}
	l.mu.Unlock()
	one.Lock()
	return one.Unlock
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
