package observe

import (
	"sync"
	"time"
)

// page is where a list goes on that a member answered in part.
type page struct {
	token string
	// revision of the list, and how many objects its pages had so far.
	revision int64
	objects  int
	// member who answered, and when it was known.
	member string
	at     int64
}

// pages are the last such pages of each resource, by member. Its methods may be called from several
// goroutines.
type pages struct {
	mu   sync.Mutex
	last map[hostedResource]map[string]page
}

// turn keeps a page, and gives the one to go on from: that of another member, if there is one that is
// not too old, as a client does that reaches the members by a load balancer; or else the page itself.
func (p *pages) turn(of hostedResource, own page) page {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = map[hostedResource]map[string]page{}
	}
	if p.last[of] == nil {
		p.last[of] = map[string]page{}
	}
	p.last[of][own.member] = own
	next := own
	for member, other := range p.last[of] {
		newest := next.member == own.member || other.at > next.at
		if member != own.member && newest && time.Duration(own.at-other.at) <= ReadPageAge {
			next = other
		}
	}
	return next
}
