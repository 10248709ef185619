package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
)

// The bounds of a clean-up.
const (
	// ownerGrace is how long an owner that was asked to end may take to stop
	// its cluster itself.
	ownerGrace = 15 * time.Second
	// killBound is how long a process may take to vanish after SIGKILL; only
	// one that hangs in the kernel needs longer than an instant.
	killBound = 5 * time.Second
	// sweepPoll is the pause between two looks at the process table.
	sweepPoll = 20 * time.Millisecond
	// nascentAge is when a folder that never got its record counts as left
	// behind.
	nascentAge = time.Minute
)

// Removed is what a clean-up removed for one cluster.
type Removed struct {
	ID, Name string
	// Processes that were killed.
	Processes int
	// Others are things that were removed and are neither processes nor files,
	// such as containers.
	Others int
	Dir    string
	// OwnerEnded is whether the cluster's owner was alive and had to end.
	OwnerEnded bool
}

// Also removes what a cluster has beside its processes and its folder, and says
// how many things that were; nil if there is nothing of the kind.
type Also func(ctx context.Context, record Record) (int, error)

// CleanDead removes every cluster whose owner is dead. A cluster whose owner
// lives is not touched.
func CleanDead(ctx context.Context, root string, also Also) ([]Removed, error) {
	return clean(ctx, root, also, func(record Record) bool { return !record.Owner.Alive() }, false)
}

// CleanAll removes every cluster, whether its owner lives or not, and folders
// whose record cannot be read.
func CleanAll(ctx context.Context, root string, also Also) ([]Removed, error) {
	return clean(ctx, root, also, func(Record) bool { return true }, true)
}

// CleanNamed removes the clusters of a name or ID, whether their owners live
// or not.
func CleanNamed(ctx context.Context, root, name string, also Also) ([]Removed, error) {
	return clean(ctx, root, also, func(record Record) bool { return record.Name == name || record.ID == name }, false)
}

func clean(ctx context.Context, root string, also Also, selected func(Record) bool, broken bool) ([]Removed, error) {
	entries, err := List(root)
	var problems []error
	if err != nil && !broken {
		problems = append(problems, err)
	}
	var removed []Removed
	for _, entry := range entries {
		if !selected(entry.Record()) {
			continue
		}
		one, err := Remove(ctx, entry, also)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		removed = append(removed, one)
	}
	leftovers, err := removeFolders(ctx, root, broken)
	return append(removed, leftovers...), errors.Join(append(problems, err)...)
}

// Remove ends a cluster for good: its owner if that lives, every process that
// carries its marker, whatever else there is of it, and its folder.
func Remove(ctx context.Context, entry *Entry, also Also) (Removed, error) {
	record := entry.Record()
	removed := Removed{ID: record.ID, Name: record.Name, Dir: entry.Dir}
	if record.Owner.Alive() {
		// The owner goes first, because it restarts what dies under it.
		if err := endOwner(ctx, record.Owner); err != nil {
			return removed, fmt.Errorf("cluster %s: %w", record.ID, err)
		}
		removed.OwnerEnded = true
	}
	killed, err := sweep(ctx, record.ID)
	removed.Processes = killed
	if err != nil {
		return removed, fmt.Errorf("cluster %s: %w", record.ID, err)
	}
	if also != nil {
		if removed.Others, err = also(ctx, record); err != nil {
			return removed, fmt.Errorf("cluster %s: %w", record.ID, err)
		}
	}
	if err := entry.Remove(); err != nil {
		return removed, fmt.Errorf("cluster %s: cannot remove its folder: %w", record.ID, err)
	}
	return removed, nil
}

// endOwner asks the owner to stop its cluster and end, and kills it if it
// takes too long.
func endOwner(ctx context.Context, owner Owner) error {
	if owner.PID == os.Getpid() {
		return fmt.Errorf("this very process owns it")
	}
	process, err := os.FindProcess(owner.PID)
	if err != nil {
		return nil
	}
	defer process.Release()
	for _, attempt := range []struct {
		signal syscall.Signal
		bound  time.Duration
	}{{syscall.SIGTERM, ownerGrace}, {syscall.SIGKILL, killBound}} {
		// Asked again after the process was opened: from here on a signal can
		// only reach this process, whichever gets its PID later.
		if !owner.Alive() {
			return nil
		}
		if err := process.Signal(attempt.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("cannot end its owner, process %d: %w", owner.PID, err)
		}
		err := wait.PollUntilContextTimeout(ctx, sweepPoll, attempt.bound, true, func(context.Context) (bool, error) {
			return !owner.Alive(), nil
		})
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("its owner, process %d, does not even end when killed", owner.PID)
}

// sweep kills every process that carries the cluster's marker until none is
// left, and says how many there were.
func sweep(ctx context.Context, id string) (int, error) {
	seen := map[int]bool{}
	var left []int
	err := wait.PollUntilContextTimeout(ctx, sweepPoll, killBound, true, func(context.Context) (bool, error) {
		found, err := procfs.WithVariable(Marker, id)
		if err != nil {
			return false, err
		}
		left = left[:0]
		for _, pid := range found {
			if pid == os.Getpid() {
				continue
			}
			left = append(left, pid)
			if kill(pid, id) {
				seen[pid] = true
			}
		}
		return len(left) == 0, nil
	})
	if err != nil {
		return len(seen), fmt.Errorf("cannot end its processes %v: %w", left, err)
	}
	return len(seen), nil
}

// kill sends SIGKILL to the process, provided that it carries the marker after
// it was opened: the handle stays with the process, the PID may not.
func kill(pid int, id string) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer process.Release()
	return procfs.HasVariable(pid, Marker, id) && process.Kill() == nil
}

// removeFolders deletes folders that have no readable record: those of a
// registration that was cut short, and with broken all the others too.
func removeFolders(ctx context.Context, root string, broken bool) ([]Removed, error) {
	folders, err := os.ReadDir(root)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var removed []Removed
	for _, folder := range folders {
		dir := filepath.Join(root, folder.Name())
		id, unborn := strings.CutPrefix(folder.Name(), nascent)
		switch {
		case !folder.IsDir():
			continue
		case unborn:
			if info, err := folder.Info(); err != nil || time.Since(info.ModTime()) < nascentAge {
				continue
			}
		case !broken || folder.Name()[0] == '.':
			continue
		default:
			if _, err := read(dir); err == nil || gone(dir) {
				continue
			}
		}
		killed, err := sweep(ctx, id)
		if err != nil {
			return removed, err
		}
		if err := os.RemoveAll(dir); err != nil {
			return removed, err
		}
		removed = append(removed, Removed{ID: id, Name: id, Processes: killed, Dir: dir})
	}
	return removed, nil
}
