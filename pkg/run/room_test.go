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
)

// filling is a disk that fills when told to.
type filling struct{ full chan struct{} }

func (filling) Check() error { return nil }

func (f filling) Run(ctx context.Context) error {
	select {
	case <-f.full:
		return &disk.FullError{Folder: "/state", Free: 7 << 20}
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
}

func TestFolders_AreThoseThatARunWritesTo(t *testing.T) {
	t.Setenv("EVENKEEL_STATE", "/s")
	t.Setenv("TMPDIR", "/t")
	if got := strings.Join(folders(filepath.Join("_out", "b")), " "); got != "_out/b /t /s" {
		t.Errorf("they are %s", got)
	}
}
