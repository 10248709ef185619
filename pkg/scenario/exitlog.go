package scenario

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/logtail"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/leak"
)

// exitLogs reads the last lines of the logs of processes that ended although the harness had
// not ended them (RO-03).
//
// What it misses: the harness has no logs of an external cluster, and a component that
// writes its log late may have written more.
type exitLogs struct {
	mu sync.Mutex
	// masker knows the credentials that were learned so far; nil before.
	masker *leak.Masker
}

// learn asks the cluster for its credentials, so that none of them gets into the history.
func (e *exitLogs) learn(ctx context.Context, c cluster.Cluster) {
	ctx, cancel := context.WithTimeout(ctx, LearnTimeout)
	defer cancel()
	known, err := c.Credentials(ctx)
	if err != nil && len(known) == 0 {
		return
	}
	masker := leak.NewMasker(known)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.masker = masker
}

// of gives the last lines of the log of the process that a change is about, with
// credentials masked; none where it says nothing of the process's end.
func (e *exitLogs) of(dir string, change cluster.Change) []string {
	if change.What != history.ProcessExited || change.Expected || change.Noticed || dir == "" {
		return nil
	}
	return e.masked(logtail.Lines(filepath.Join(dir, fmt.Sprintf("%s-%s.log", change.Member, change.Component))))
}

// masked are lines of a log with credentials masked; none while it is not known yet what must
// not be shown.
func (e *exitLogs) masked(lines []string) []string {
	e.mu.Lock()
	masker := e.masker
	e.mu.Unlock()
	if masker == nil || len(lines) == 0 {
		return nil
	}
	return strings.Split(masker.Mask(strings.Join(lines, "\n")), "\n")
}
