package run

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster/state"
	"github.com/evenkeel/evenkeel/pkg/disk"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
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
// the run ends before that, with the disk as the reason. A disk may fill between two looks, so
// that the history tells since when nothing of it counts.
func (r *running) whileThereIsRoom(ctx context.Context, recorder observe.Recorder, play func(context.Context) error) error {
	playing, end := context.WithCancelCause(ctx)
	defer end(nil)
	var watching sync.WaitGroup
	var full error
	watching.Go(func() {
		if full = r.disks.Run(playing); full != nil {
			recorder.Record(filled(full, recorder.Now(), r.clock.Now()))
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

// filled is the event of a disk that has too little room at a time of the history, which is a
// time of the clock.
func filled(err error, now int64, clock time.Time) history.Event {
	ev := history.Event{Kind: history.KindStarvation, From: 1, Starvation: &history.Starvation{DiskFull: true}}
	if full := (*disk.FullError)(nil); errors.As(err, &full) && !full.HadRoom.IsZero() {
		ev.From = max(1, now-int64(clock.Sub(full.HadRoom)))
	}
	return ev
}

// remedy is what to do about a disk that is full; empty if that is not what is wrong.
func remedy(err error) string {
	if disk.Full(err) {
		return ", since the disk is full: free some space, and run again"
	}
	return ""
}
