package storageversion

import (
	"sync"
	"time"
)

// place holds the standing for all readers.
type place struct {
	mu       sync.RWMutex
	now      standing
	once     sync.Once
	opened   sync.Once
	register chan struct{}
}

// first is closed when the server is registered for the first time.
func (p *place) first() chan struct{} {
	p.once.Do(func() { p.register = make(chan struct{}) })
	return p.register
}

func (p *place) read() standing {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.now
}

func (p *place) write(s standing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = s
}

// change applies a transition of standing.go.
func (p *place) change(transition func(standing) (standing, error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	next, err := transition(p.now)
	p.now = next
	return err
}

// renewed records a renewal.
func (p *place) renewed(start, now time.Time, duration time.Duration) error {
	return p.change(func(s standing) (standing, error) { return s.renewal(start, now, duration) })
}

// registered records that everything is published.
func (p *place) registered(now time.Time, duration time.Duration) error {
	err := p.change(func(s standing) (standing, error) { return s.registration(now, duration) })
	if err == nil {
		p.opened.Do(func() { close(p.first()) })
	}
	return err
}
