//go:build linux

package agent

import (
	"context"
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
)

func (a *agent) tellCPUWaits(w http.ResponseWriter, _ *http.Request) {
	answer(w, a.watcher.cpuWaits(), nil)
}

// cpuWaits are those of all processes that live; one that ends meanwhile has none.
func (w *watcher) cpuWaits() []cluster.CPUWait {
	w.mu.Lock()
	defer w.mu.Unlock()
	waits := []cluster.CPUWait{}
	for id, one := range w.living {
		if threads, err := procfs.WaitedForCPU(id.PID); err == nil {
			waits = append(waits, cluster.CPUWait{Component: one.component, Process: id, Threads: threads})
		}
	}
	return waits
}

// CPUWaits is how long each process of the member's components has waited for a CPU.
func (c *Client) CPUWaits(ctx context.Context) ([]cluster.CPUWait, error) {
	var waits []cluster.CPUWait
	err := c.exchange(ctx, http.MethodGet, pathCPUWaits, nil, nil, &waits)
	return waits, err
}
