package candidacy

import "time"

// hide keeps the candidate from being declared for a time.
func (c *candidate) hide(d time.Duration) {
	if d == 0 {
		return
	}
	c.mu.Lock()
	c.hidden = c.options.Clock.Now().Add(d)
	c.mu.Unlock()
	c.wake()
}

// hides is for how long the candidate is not to be declared yet.
func (c *candidate) hides() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hidden.IsZero() {
		return 0
	}
	return c.hidden.Sub(c.options.Clock.Now())
}
