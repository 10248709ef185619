package discovery

import "time"

// pace bounds what rebuilding costs while changes keep coming: one part in
// rebuildShare of a processor. What rebuilding did not take while nothing changed
// is saved up to some bound, so that a change after some quiet, which often comes
// in several pieces, does not wait for the piece before.
type pace struct {
	// saved is how long rebuilds may take now without a pause; what is below zero
	// has to be waited for.
	saved time.Duration
	// last is the end of the last rebuild.
	last time.Time
}

// pause is how long to wait after a rebuild that ended now before the next one.
func (p *pace) pause(now time.Time, took time.Duration) time.Duration {
	took = max(took, 0)
	if p.last.IsZero() {
		p.saved = savedMost
	} else {
		p.saved += max(now.Sub(p.last)-took, 0) / (rebuildShare - 1)
	}
	p.last = now
	p.saved = max(min(p.saved, savedMost)-took, -unhurried/(rebuildShare-1))
	return max(-p.saved*(rebuildShare-1), 0)
}
