package run

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/cluster/local/fakeplane"
	"github.com/evenkeel/evenkeel/pkg/disk"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// filling is a disk that fills when told to.
type filling struct{ full chan struct{} }

func (filling) Check() error { return nil }

func (f filling) Run(ctx context.Context) error {
	select {
	case <-f.full:
		return &disk.FullError{Folder: "/state", Free: 7 << 20, HadRoom: time.Now().Add(-time.Second)}
	case <-ctx.Done():
		return nil
	}
}

func TestRun_EndsWithTheDiskThatFills(t *testing.T) {
	o, shown := fakeRun(t, fakeplane.Good)
	disks := filling{make(chan struct{})}
	shown.when, shown.do = "is ready", func() { shown.do = nil; close(disks.full) }
	p, err := prepare(t.Context(), o, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := bundle.Create(p.out); err != nil {
		t.Fatal(err)
	}
	r := &running{options: o, plan: p, clock: clock.RealClock{}, disks: disks}
	outcome, err := r.conclude(t.Context(), r.play(t.Context()))
	var full *disk.FullError
	if !errors.As(err, &full) || strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v", err)
	}
	if outcome == nil || outcome.Report.Verdict == check.Pass || !strings.Contains(outcome.Report.Message, "the disk that holds /state has 7 MB left") {
		t.Fatalf("%+v", outcome)
	}
	readable(t, outcome)
	h, err := history.Open(t.Context(), filepath.Join(p.out, bundle.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	for {
		ev, err := h.Next()
		if err != nil {
			t.Fatalf("the history does not tell that the disk filled: %v", err)
		}
		if ev.Starvation == nil || !ev.Starvation.DiskFull {
			continue
		}
		if ago := time.Duration(ev.At - ev.From); ago <= 0 || ago > time.Minute {
			t.Errorf("it had room %s before", ago)
		}
		return
	}
}

func TestFilled_NothingCountsOfADiskThatNeverHadRoom(t *testing.T) {
	if ev := filled(&disk.FullError{Folder: "/state"}, int64(time.Hour), time.Unix(1, 0)); ev.From != 1 || !ev.Starvation.DiskFull {
		t.Errorf("%+v", ev)
	}
}

func TestFolders_AreThoseThatARunWritesTo(t *testing.T) {
	t.Setenv("EVENKEEL_STATE", "/s")
	t.Setenv("TMPDIR", "/t")
	if got := strings.Join(folders(filepath.Join("_out", "b")), " "); got != "_out/b /t /s" {
		t.Errorf("they are %s", got)
	}
}
