package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
)

// guided is a stage on which some schedules reach something new.
func guided() *stage {
	s := newStage()
	for i := range 30 {
		s.shows[i] = &Story{Features: []string{fmt.Sprint("f", i/3)}}
	}
	return s
}

func TestExplore_ResumedVariesWhatItHadReached(t *testing.T) {
	whole := guided()
	o := whole.options(t, t.TempDir())
	o.Max = 30
	if _, err := Explore(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	out, parts := t.TempDir(), []*Schedule(nil)
	for range 3 {
		s := guided()
		o := s.options(t, out)
		o.Max = 10
		if _, err := Explore(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, s.order...)
	}
	if len(parts) != len(whole.order) {
		t.Fatalf("%d schedules in parts, and %d at once", len(parts), len(whole.order))
	}
	for i, one := range whole.order {
		if !bytes.Equal(one.Scenario, parts[i].Scenario) || one.Parent != parts[i].Parent {
			t.Fatalf("schedule %d varies %d, and %d where it was not ended before", i, parts[i].Parent, one.Parent)
		}
	}
}

func TestExplore_ResumedWithOtherFlagsVariesNothingThatWasNotPlayed(t *testing.T) {
	out := t.TempDir()
	s := guided()
	o := s.options(t, out)
	o.Max = 6
	if _, err := Explore(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s = guided()
	o = s.options(t, out)
	o.Max, o.Composer.Budget = 1, DefaultBudget/3
	got, err := Explore(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got.Corpus >= 3 || got.Features != 3 {
		t.Errorf("%d schedules of the corpus are those of other flags", got.Corpus)
	}
}

// A disk that is full keeps the folder of a find from being made, and may take a line of the log.
func TestExplore_FindThatCouldNotBeKeptIsFoundAgain(t *testing.T) {
	s, out := newStage(), t.TempDir()
	find := found("SV-01", "a")
	s.shows[1] = &Story{Finds: []Find{find}}
	o := s.options(t, out)
	o.Max = 4
	inTheWay := filepath.Join(out, findsFolder, "1-"+find.Fingerprint.Folder())
	o.Play = func(ctx context.Context, schedule *Schedule, files, into string) error {
		if schedule.Index == 1 {
			if err := errors.Join(os.MkdirAll(inTheWay, 0o755), os.WriteFile(filepath.Join(inTheWay, "x"), nil, 0o600)); err != nil {
				t.Error(err)
			}
		}
		return s.play(ctx, schedule, files, into)
	}
	if _, err := Explore(t.Context(), o); err == nil {
		t.Error("the find was kept where it could not be")
	}
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	if _, err := Explore(t.Context(), s.options(t, out).with(6)); err != nil {
		t.Fatal(err)
	}
	if kept, _ := filepath.Glob(filepath.Join(out, findsFolder, "1-*", bundleFolder, "index")); len(kept) != 1 {
		t.Error("the find is lost")
	}
}

// with is the options with another number of schedules.
func (o Options) with(most int) Options {
	o.Max = most
	return o
}

func TestExplore_KilledBeforeItsLineInTheLog(t *testing.T) {
	s, out := newStage(), t.TempDir()
	s.shows[1] = &Story{Finds: []Find{found("SV-01", "a")}}
	if _, err := Explore(t.Context(), s.options(t, out).with(2)); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(out, logFile)
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(raw, '\n') + 1
	if err := os.WriteFile(log, raw[:first], 0o600); err != nil {
		t.Fatal(err)
	}
	s.order, s.shows[2] = nil, s.shows[1]
	got, err := Explore(t.Context(), s.options(t, out).with(2))
	if err != nil || len(got.Finds) != 0 || s.order[0].Index != 2 {
		t.Errorf("%+v, from schedule %d on (%v)", got, s.order[0].Index, err)
	}
}

func TestExplore_InterruptLosesNoRunThatWasLeft(t *testing.T) {
	s, out := newStage(), t.TempDir()
	left := filepath.Join(out, runsFolder, "3", bundleFolder)
	if err := errors.Join(os.MkdirAll(left, 0o755), os.WriteFile(filepath.Join(left, "index"), []byte("3"), 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := s.options(t, out)
	o.Story = func(context.Context, string) (*Story, error) {
		cancel()
		return nil, ctx.Err()
	}
	if _, err := Explore(ctx, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Error("the run that was left is lost:", err)
	}
}

func TestExplore_KeepsAHistoryThatCannotBeJudged(t *testing.T) {
	s, out := newStage(), t.TempDir()
	o := s.options(t, out).with(2)
	o.Play = func(_ context.Context, _ *Schedule, _, into string) error {
		return errors.Join(os.MkdirAll(into, 0o755), os.WriteFile(filepath.Join(into, bundle.HistoryFile), nil, 0o600))
	}
	left := filepath.Join(out, runsFolder, "5", bundleFolder)
	if err := errors.Join(os.MkdirAll(left, 0o755), os.WriteFile(filepath.Join(left, bundle.HistoryFile), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	got, err := Explore(t.Context(), o)
	if err != nil || got.Spoilt != 2 {
		t.Fatalf("%+v (%v)", got, err)
	}
	for _, index := range []string{"5", "6", "7"} {
		if _, err := os.Stat(filepath.Join(out, keptFolder, index, bundleFolder, bundle.HistoryFile)); err != nil {
			t.Error(err)
		}
	}
}

// A kill or a full disk can take the end of the last line, and nothing but its newline.
func TestJournal_GoesOnAfterALineThatWasCutOff(t *testing.T) {
	for _, cut := range []string{`{"seed":4,"index":1,"parent":-1,"at":0}`, `{"seed":4,"ind`, ""} {
		path := filepath.Join(t.TempDir(), logFile)
		if err := os.WriteFile(path, []byte(`{"seed":4,"index":0,"parent":-1,"at":0}`+"\n"+cut), 0o600); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			records, log, err := openJournal(path)
			if err != nil || len(records) != i+1 {
				t.Fatalf("%q: the log has %d lines (%v), want %d", cut, len(records), err, i+1)
			}
			if err := errors.Join(log.add(record{Seed: 4, Index: i + 1}), log.close()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
