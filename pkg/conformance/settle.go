package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// orphanBound is how long a run may take to end after the campaign was killed: it takes
	// its control plane down and judges what it has recorded.
	orphanBound = 5 * time.Minute
	// orphanPoll is how often the campaign looks whether it has ended.
	orphanPoll = 100 * time.Millisecond
)

// settle concludes runs that an earlier process has started and not entered as ended. One
// that has left a whole bundle counts, so that no finished run is lost.
func (c *campaign) settle(ctx context.Context) error {
	for _, line := range c.plan.Lines {
		s, pending := c.state.pending[line.Number]
		if !pending {
			continue
		}
		if err := c.outlive(ctx, s); err != nil {
			return err
		}
		if _, _, err := c.finish(ctx, s, nil, 0); err != nil {
			return err
		}
		delete(c.state.pending, line.Number)
	}
	return nil
}

// outlive waits until the process of a run has ended.
func (c *campaign) outlive(ctx context.Context, s Started) error {
	if s.Process == nil || !s.Process.alive() {
		return nil
	}
	c.View.Say(fmt.Sprintf("waiting for the run of line %d, process %d, which is ending", s.Line, s.Process.PID))
	poll := c.Clock.NewTicker(orphanPoll)
	defer poll.Stop()
	late := c.Clock.NewTimer(orphanBound)
	defer late.Stop()
	for s.Process.alive() {
		select {
		case <-poll.C():
		case <-late.C():
			return fmt.Errorf("the run of line %d, process %d, has not ended in %v: end it, and resume again", s.Line, s.Process.PID, orphanBound)
		case <-ctx.Done():
			return errors.New("interrupted while an earlier run was ending: resume again")
		}
	}
	return nil
}
