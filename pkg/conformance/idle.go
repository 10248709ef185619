package conformance

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/prometheus/procfs"
)

// Idle tells how much time all CPUs of the machine together had nothing to do since it started.
type Idle func() (time.Duration, error)

// MachineIdle reads it of this machine, a Linux one. It is an error where this process may not use
// all CPUs, as in a container with a limit: what is idle there is not ours.
func MachineIdle() (time.Duration, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, fmt.Errorf("how busy the machine is: %w", err)
	}
	stat, err := fs.Stat()
	if err != nil {
		return 0, fmt.Errorf("how busy the machine is: %w", err)
	}
	if usable := runtime.GOMAXPROCS(0); usable < len(stat.CPU) {
		return 0, fmt.Errorf("%d of the machine's %d CPUs can be used", usable, len(stat.CPU))
	}
	return time.Duration((stat.CPUTotal.Idle + stat.CPUTotal.Iowait) * float64(time.Second)), nil
}

// watch has the pace look at the machine until the context ends. Where the machine does not tell
// how busy it is, the pace follows from how runs end alone.
func (c *campaign) watch(ctx context.Context) {
	if c.Idle == nil || !c.pace.auto {
		return
	}
	before, err := c.Idle()
	if err != nil {
		return
	}
	tick := c.Clock.NewTicker(autoLook)
	defer tick.Stop()
	at := c.Clock.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
		idle, err := c.Idle()
		now := c.Clock.Now()
		if err != nil || !now.After(at) {
			continue
		}
		if limit, changed := c.pace.look(float64(idle-before) / float64(now.Sub(at))); changed {
			c.View.Paced(limit)
		}
		before, at = idle, now
	}
}
