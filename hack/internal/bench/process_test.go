package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestProcess_ReadsFilesOfTheKernel(t *testing.T) {
	status := []byte("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n")
	if n, err := kilobytes(status, "VmRSS:"); err != nil || n != 1<<20 {
		t.Errorf("%d bytes (%v)", n, err)
	}
	if _, err := kilobytes(status, "VmSwap:"); err == nil {
		t.Error("a missing line was read")
	}
	stat := []byte("7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 30 12 13 14 15 16 17 18 19 20")
	if n, err := ticksIn(stat); err != nil || n != 42 {
		t.Errorf("%d ticks (%v), want 30 and 12", n, err)
	}
	if _, err := ticksIn([]byte("7 (a) S 1")); err == nil {
		t.Error("a truncated line was read")
	}
	busy, all, err := busyTicks([]byte("cpu  10 20 30 400 50 6 7 8 0 0\ncpu0 1 2\n"))
	if err != nil || busy != 81 || all != 531 {
		t.Errorf("%d of %d ticks are busy (%v), want 81 of 531", busy, all, err)
	}
	if _, _, err := busyTicks([]byte("intr 1 2 3")); err == nil {
		t.Error("a line with another name was read")
	}
}

func TestProcess_MeasuresAProcessThatRuns(t *testing.T) {
	if now, highest, err := Resident(os.Getpid()); err != nil || now <= 0 || highest < now {
		t.Errorf("this process has %d bytes, and had %d (%v)", now, highest, err)
	}
	if err := ResetPeak(os.Getpid()); err != nil {
		t.Error(err)
	}
	if _, err := Taken(os.Getpid()); err != nil {
		t.Error(err)
	}
	seen, err := WatchProcessors()
	if err != nil {
		t.Fatal(err)
	}
	if busy, others, err := seen.Shares(); err != nil || busy < 0 || busy > 1 || others > busy {
		t.Errorf("%v of all processors were busy, %v with others (%v)", busy, others, err)
	}
}

func TestWhoSleepsIsAtRest(t *testing.T) {
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
	if share, err := AtRest(t.Context(), 0, time.Minute, sleeper.Process.Pid); err != nil || share >= quietShare {
		t.Errorf("%v, %v", share, err)
	}
	if _, err := AtRest(t.Context(), 0, time.Minute, sleeper.Process.Pid, -1); err == nil {
		t.Error("a process that does not exist is at rest")
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := AtRest(interrupted, 0, time.Minute, sleeper.Process.Pid); !errors.Is(err, context.Canceled) {
		t.Errorf("%v after an interrupt", err)
	}
}
