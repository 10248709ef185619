package run

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/evenkeel/evenkeel/pkg/cluster/state"
	"github.com/evenkeel/evenkeel/pkg/disk"
)

// diskWatch tells when a disk that the run writes to has too little room; disk.Watch is one.
type diskWatch interface {
	Check() error
	Run(ctx context.Context) error
}

// folders are those that a run writes to, through its cluster too.
func folders(bundle string) []string {
	all := []string{bundle, os.TempDir()}
	if root, err := state.Root(); err == nil {
		all = append(all, root)
	}
	return all
}

// whileThereIsRoom plays until a disk has too little room. A control plane whose etcd cannot
// write fails in many ways, and what is seen of it then says nothing of the control plane:
// the run ends before that, with the disk as the reason.
func (r *running) whileThereIsRoom(ctx context.Context, play func(context.Context) error) error {
	playing, end := context.WithCancelCause(ctx)
	defer end(nil)
	var watching sync.WaitGroup
	var full error
	watching.Go(func() {
		if full = r.disks.Run(playing); full != nil {
			end(full)
		}
	})
	err := play(playing)
	end(nil)
	watching.Wait()
	if full != nil && !errors.Is(err, full) {
		err = errors.Join(full, err)
	}
	return err
}

// remedy is what to do about a disk that is full; empty if that is not what is wrong.
func remedy(err error) string {
	if disk.Full(err) {
		return ", since the disk is full: free some space, and run again"
	}
	return ""
}
