package kind

import (
	"context"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// WaitedForCPU implements cluster.CPUWaiter. The member's agent reads it, because only the
// node sees its processes by the numbers that it knows them by.
func (c *kindCluster) WaitedForCPU(ctx context.Context, name string) ([]cluster.CPUWait, error) {
	m, err := c.look(name)
	if err != nil {
		return nil, err
	}
	return m.agent.CPUWaits(ctx)
}
