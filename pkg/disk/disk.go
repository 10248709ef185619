// Package disk tells when a disk is full, or about to be.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/utils/clock"
)

// Bounds of a run's disks.
const (
	// Least is how many bytes have to be free while a run goes on: etcd sets 64 MB aside
	// for a log of each member before it writes to it, and what was recorded has to be
	// written out.
	Least = 256 << 20
	// LookInterval is the pause between two looks at how many are.
	LookInterval = time.Second
)

// FullError says that a disk has too little room left for a run.
type FullError struct {
	// Folder is the one that was looked at, and Free how many bytes its disk had left.
	Folder string
	Free   uint64
	// HadRoom is when the disk had enough the last time that it was looked at; zero if it
	// never had.
	HadRoom time.Time
}

// Error says which disk it is, and what to do.
func (e *FullError) Error() string {
	return fmt.Sprintf("the disk that holds %s has %d MB left, and a run needs %d MB: free some space, and run again", e.Folder, e.Free>>20, Least>>20)
}

// Full is whether an error says that a disk, or the user's share of it, is full.
func Full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Free is how many bytes a user without privileges can still write to the disk of a
// folder, or where there is none yet, to that of the nearest one above it.
func Free(folder string) (uint64, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return 0, err
	}
	for {
		var stat syscall.Statfs_t
		err := syscall.Statfs(folder, &stat)
		if err == nil && stat.Blocks == 0 {
			return 0, fmt.Errorf("the file system of %s does not tell how much room it has", folder)
		}
		if err == nil {
			return stat.Bavail * uint64(stat.Bsize), nil //nolint:gosec // G115: the size of a block is positive.
		}
		parent := filepath.Dir(folder)
		if !errors.Is(err, fs.ErrNotExist) || parent == folder {
			return 0, fmt.Errorf("how much room the disk of %s has cannot be told: %w", folder, err)
		}
		folder = parent
	}
}

// Watch looks at the disks of folders. Its zero value is of no use; see NewWatch.
type Watch struct {
	folders []string
	clock   clock.WithTicker
	free    func(folder string) (uint64, error)
	// hadRoom is when all disks had enough the last time.
	hadRoom time.Time
}

// NewWatch makes a Watch.
func NewWatch(clk clock.WithTicker, folders ...string) *Watch {
	return &Watch{folders: folders, clock: clk, free: Free}
}

// Check is a *FullError if a disk has too little room. One that does not tell is taken to
// have enough. It must not be called at once by several goroutines.
func (w *Watch) Check() error {
	now := w.clock.Now()
	for _, folder := range w.folders {
		if free, err := w.free(folder); err == nil && free < Least {
			return &FullError{Folder: folder, Free: free, HadRoom: w.hadRoom}
		}
	}
	w.hadRoom = now
	return nil
}

// Run checks until the context ends, which is no error, or a disk has too little room.
func (w *Watch) Run(ctx context.Context) error {
	ticker := w.clock.NewTicker(LookInterval)
	defer ticker.Stop()
	for {
		if err := w.Check(); err != nil {
			return err
		}
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return nil
		}
	}
}
