package storageversion

import (
	"slices"
	"sync"
)

// pile collects names until a caller takes all of them. A name that was added
// several times is taken once.
type pile struct {
	mu    sync.Mutex
	names map[string]bool
	ready chan struct{}
}

func newPile() *pile {
	return &pile{names: map[string]bool{}, ready: make(chan struct{}, 1)}
}

func (p *pile) put(name string) {
	p.mu.Lock()
	p.names[name] = true
	p.mu.Unlock()
	select {
	case p.ready <- struct{}{}:
	default:
	}
}

func (p *pile) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := make([]string, 0, len(p.names))
	for name := range p.names {
		names = append(names, name)
	}
	clear(p.names)
	slices.Sort(names)
	return names
}
