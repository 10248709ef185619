//go:build linux

package kind

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

var _ cluster.Cleaner = Provider{}

// Clean implements cluster.Cleaner: all containers, volumes and networks that
// carry the cluster's ID are removed.
func (Provider) Clean(ctx context.Context, id string) (int, error) { return removeFromEngine(ctx, id) }

// Leftovers implements cluster.Cleaner: the clusters of which the container
// engine has something, and whose owners are dead.
func (Provider) Leftovers(ctx context.Context) ([]string, error) {
	if _, err := exec.LookPath(engine); err != nil {
		return nil, nil // then there can be none
	}
	if checkEngine(ctx) != nil {
		return nil, nil // nor where no daemon runs
	}
	listed, err := docker(ctx, "network", "ls", "--filter", "label="+clusterLabel,
		"--format", `{{.Label "`+clusterLabel+`"}} {{.Label "`+ownerLabel+`"}}`)
	if err != nil {
		return nil, err
	}
	var ids []string
	for line := range strings.Lines(listed) {
		id, owner, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && !ownerOf(owner).Alive() {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// ownerOf reads the label that makeNetwork was given.
func ownerOf(label string) state.Owner {
	parts := strings.SplitN(label, "-", 3)
	if len(parts) < 3 {
		return state.Owner{}
	}
	pid, errPID := strconv.Atoi(parts[0])
	started, errStarted := strconv.ParseInt(parts[1], 10, 64)
	if errors.Join(errPID, errStarted) != nil {
		return state.Owner{}
	}
	return state.Owner{PID: pid, StartTime: started, Boot: parts[2]}
}

// labelOf is the label that an owner gets.
func labelOf(owner state.Owner) string {
	return fmt.Sprintf("%d-%d-%s", owner.PID, owner.StartTime, owner.Boot)
}

// removeFromEngine removes everything of a cluster from the container engine
// and says how many containers and networks that were.
func removeFromEngine(ctx context.Context, id string) (int, error) {
	removed := 0
	for _, kind := range []struct{ list, remove []string }{
		{[]string{"ps", "--all", "--quiet", "--filter", "label=" + nodeLabel + "=" + id}, []string{"rm", "--force", "--volumes"}},
		{[]string{"network", "ls", "--quiet", "--filter", "label=" + clusterLabel + "=" + id}, []string{"network", "rm"}},
	} {
		listed, err := docker(ctx, kind.list...)
		if err != nil {
			return removed, err
		}
		found := strings.Fields(listed)
		if len(found) == 0 {
			continue
		}
		if _, err := docker(ctx, append(kind.remove, found...)...); err != nil {
			return removed, fmt.Errorf("cannot remove what cluster %s has left: %w", id, err)
		}
		removed += len(found)
	}
	return removed, nil
}
