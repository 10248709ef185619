//go:build linux

package agent

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
)

// stopped is whether the kernel holds a process.
type stopped struct {
	Stopped bool `json:"stopped"`
}

func (a *agent) askStopped(w http.ResponseWriter, r *http.Request) {
	pid, err := strconv.Atoi(r.URL.Query().Get("pid"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	stat, err := procfs.Read(pid)
	if err == nil && (strconv.FormatInt(stat.StartTime, 10) != r.URL.Query().Get("started") || !stat.Alive()) {
		err = fmt.Errorf("process %d has exited", pid)
	}
	answer(w, stopped{stat.Stopped()}, err)
}

// Stopped is whether the kernel holds the process, which must not have ended.
func (c *Client) Stopped(ctx context.Context, process cluster.Process) (bool, error) {
	var told stopped
	err := c.exchange(ctx, http.MethodGet, pathStopped, url.Values{
		"pid": {strconv.Itoa(process.PID)}, "started": {strconv.FormatInt(process.StartTime, 10)},
	}, nil, &told)
	return told.Stopped, err
}
