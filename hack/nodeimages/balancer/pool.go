package main

import "sync"

// pool is the backends and what is known of their health.
type pool struct {
	mu       sync.Mutex
	backends []string
	health   map[string]health
	next     int
}

// health of one backend. A backend that was never found healthy is not.
type health struct {
	healthy bool
	// streak counts the latest checks that contradict it, one after another.
	streak int
}

// observe is the health after one more check, and whether it changed.
func (h health) observe(ok bool, rule check) (health, bool) {
	if ok == h.healthy {
		return health{healthy: h.healthy}, false
	}
	h.streak++
	needed := rule.unhealthy
	if ok {
		needed = rule.healthy
	}
	if h.streak < needed {
		return h, false
	}
	return health{healthy: ok}, true
}

// order is the backends in the order in which a new connection tries them: from
// the turn on, healthy ones first. The others come last and are not left out: where no
// backend is healthy, one that accepts a connection is better than none.
func order(backends []string, healthy func(string) bool, turn int) []string {
	var first, last []string
	for i := range backends {
		backend := backends[(turn+i)%len(backends)]
		if healthy(backend) {
			first = append(first, backend)
		} else {
			last = append(last, backend)
		}
	}
	return append(first, last...)
}

func newPool(backends []string) *pool {
	return &pool{backends: backends, health: map[string]health{}}
}

// turn gives the order for one connection, and moves on.
func (p *pool) turn() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	return order(p.backends, func(backend string) bool { return p.health[backend].healthy }, p.next)
}

// observe takes the outcome of a check, and tells whether it changed anything.
func (p *pool) observe(backend string, ok bool, rule check) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var changed bool
	p.health[backend], changed = p.health[backend].observe(ok, rule)
	return changed
}
