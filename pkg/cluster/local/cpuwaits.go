package local

import (
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
)

// WaitedForCPU implements cluster.CPUWaiter. A process that ends meanwhile is left out.
func (c *local) WaitedForCPU(_ context.Context, name string) ([]cluster.CPUWait, error) {
	m, err := c.look(name)
	if err != nil {
		return nil, err
	}
	var waits []cluster.CPUWait
	for _, u := range m.running() {
		process, runs := u.process()
		if !runs {
			continue
		}
		threads, err := procfs.WaitedForCPU(process.PID)
		if stat, gone := procfs.Read(process.PID); gone != nil || stat.StartTime != process.StartTime {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot tell how long the %s waited for a CPU: %w", u, err)
		}
		waits = append(waits, cluster.CPUWait{Component: u.component, Process: process, Threads: threads})
	}
	return waits, nil
}
