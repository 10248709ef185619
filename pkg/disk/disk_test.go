package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

func TestFull_KnowsTheErrorsOfAFullDisk(t *testing.T) {
	for err, want := range map[error]bool{
		fmt.Errorf("write: %w", &os.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC}): true, syscall.EDQUOT: true, syscall.EIO: false,
	} {
		if Full(err) != want {
			t.Errorf("%v: %v, want %v", err, !want, want)
		}
	}
	file, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write([]byte("x")); !Full(err) {
		t.Errorf("what writing to a full device gives, %v, is not known", err)
	}
}

func TestFree_OfAFolderThatIsNotThereYet(t *testing.T) {
	dir := t.TempDir()
	there, err := Free(dir)
	if err != nil || there == 0 {
		t.Fatalf("%d bytes, %v", there, err)
	}
	if later, err := Free(filepath.Join(dir, "a", "b")); err != nil || later == 0 {
		t.Errorf("%d bytes, %v", later, err)
	}
}

func TestFree_OfAFileSystemThatDoesNotTell(t *testing.T) {
	if free, err := Free("/proc"); err == nil {
		t.Errorf("/proc has %d bytes left", free)
	}
	if err := NewWatch(testingclock.NewFakeClock(time.Unix(0, 0)), "/proc").Check(); err != nil {
		t.Errorf("a run is refused because of it: %v", err)
	}
}

func TestWatch_EndsWhenADiskFills(t *testing.T) {
	clk := testingclock.NewFakeClock(time.Unix(0, 0))
	w := NewWatch(clk, "/bundle", "/state")
	var left atomic.Uint64
	left.Store(Least)
	looks := make(chan struct{}, 2)
	w.free = func(folder string) (uint64, error) {
		if folder == "/state" {
			defer func() { looks <- struct{}{} }()
			return left.Load(), nil
		}
		return 0, errors.New("this disk does not tell")
	}
	found := make(chan error, 1)
	go func() { found <- w.Run(t.Context()) }()
	select {
	case <-looks:
	case err := <-found:
		t.Fatalf("it ended with %v while there was room", err)
	}
	left.Store(Least - 1)
	clk.Step(LookInterval)
	err := <-found
	var full *FullError
	if !errors.As(err, &full) || full.Folder != "/state" || !full.HadRoom.Equal(time.Unix(0, 0)) || !strings.Contains(err.Error(), "the disk that holds /state has 255 MB left") {
		t.Errorf("error %v", err)
	}
}

func TestWatch_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := NewWatch(testingclock.NewFakeClock(time.Unix(0, 0)), "/")
	w.free = func(string) (uint64, error) { return Least, nil }
	if err := w.Run(ctx); err != nil {
		t.Errorf("error %v", err)
	}
}
