package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// stage plays schedules without a control plane.
type stage struct {
	mu    sync.Mutex
	clock *clocktesting.FakeClock
	took  time.Duration
	// shows is what the run of a schedule shows.
	shows map[int]*Story
	fails map[int]error
	order []*Schedule
	end   context.CancelFunc
	endAt int
}

func (s *stage) play(ctx context.Context, schedule *Schedule, _, bundle string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.Step(s.took)
	s.order = append(s.order, schedule)
	if err := os.MkdirAll(bundle, 0o755); err != nil {
		return err
	}
	if s.end != nil && schedule.Index == s.endAt {
		s.end()
	}
	if err := s.fails[schedule.Index]; err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bundle, "index"), []byte(fmt.Sprint(schedule.Index)), 0o600)
}

func (s *stage) story(_ context.Context, bundle string) (*Story, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, err := os.ReadFile(filepath.Join(bundle, "index"))
	if err != nil {
		return nil, err
	}
	var index int
	if _, err := fmt.Sscan(string(raw), &index); err != nil {
		return nil, err
	}
	if story := s.shows[index]; story != nil {
		return story, nil
	}
	return &Story{}, nil
}

func (s *stage) options(t *testing.T, out string) Options {
	return Options{Composer: composer(t, 4), Out: out, Play: s.play, Story: s.story, Clock: s.clock, Console: io.Discard}
}

func newStage() *stage {
	return &stage{clock: clocktesting.NewFakeClock(time.Unix(0, 0)), took: time.Minute, shows: map[int]*Story{}, fails: map[int]error{}}
}

func found(requirement, kind string) Find {
	return Find{Fingerprint: Fingerprint{Requirement: requirement, Kind: kind}, Message: kind}
}

func TestExplore_KeepsOneBundleForEachFingerprint(t *testing.T) {
	s, out := newStage(), t.TempDir()
	s.shows[1] = &Story{Finds: []Find{found("SV-01", "a")}}
	s.shows[2] = &Story{Finds: []Find{found("SV-01", "a")}}
	s.shows[3] = &Story{Finds: []Find{found("SV-01", "a"), found("SV-01", "b")}}
	o := s.options(t, out)
	o.Max = 6
	got, err := Explore(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(out, "finds", "*", "bundle", "index"))
	if err != nil || len(kept) != 2 || !strings.Contains(kept[0], "/1-sv-01-") || !strings.Contains(kept[1], "/3-sv-01-") {
		t.Errorf("kept %v (%v)", kept, err)
	}
	if got.Schedules != 6 || len(got.Finds) != 2 {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{"scenario.yaml", "topology.yaml", "find.json"} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(kept[0])), name)); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(out, "runs")); len(left) != 0 {
		t.Errorf("runs are left: %v", left)
	}
}

func TestExplore_VariesWhatReachesSomethingNew(t *testing.T) {
	s := newStage()
	for i := range 40 {
		s.shows[i] = &Story{Features: []string{"same"}}
	}
	s.shows[2] = &Story{Features: []string{"same", "other"}}
	o := s.options(t, t.TempDir())
	o.Max = 40
	got, err := Explore(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	parents := map[int]int{}
	for _, schedule := range s.order {
		parents[schedule.Parent]++
	}
	if got.Features != 2 || got.Corpus != 2 || parents[-1] == 0 || parents[0] == 0 || parents[2] == 0 || len(parents) != 3 {
		t.Errorf("%+v; parents %v", got, parents)
	}
	o = newStage().options(t, t.TempDir())
	o.Max, o.Random = 20, true
	random := o.Play
	o.Play = func(ctx context.Context, schedule *Schedule, files, bundle string) error {
		if schedule.Parent >= 0 {
			t.Errorf("without guidance schedule %d is a variation", schedule.Index)
		}
		return random(ctx, schedule, files, bundle)
	}
	if _, err := Explore(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func TestExplore_KeepsTheBudgetToWithinOneSchedule(t *testing.T) {
	s := newStage()
	s.took = 7 * time.Minute
	o := s.options(t, t.TempDir())
	o.Budget = time.Hour
	got, err := Explore(t.Context(), o)
	if err != nil || got.Schedules != 9 || got.Took > time.Hour+s.took {
		t.Errorf("%d schedules in %s (%v)", got.Schedules, got.Took, err)
	}
}

func TestExplore_GoesOnWhereItWas(t *testing.T) {
	s, out := newStage(), t.TempDir()
	s.shows[0] = &Story{Features: []string{"a"}, Finds: []Find{found("SV-01", "a")}}
	o := s.options(t, out)
	o.Max = 3
	if _, err := Explore(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	// A run that was killed while its find was judged, one that was killed before it recorded
	// anything, and a line of the log that was cut off by a full disk.
	left := filepath.Join(out, "runs", "3", "bundle")
	if err := errors.Join(os.MkdirAll(left, 0o755), os.WriteFile(filepath.Join(left, "index"), []byte("3"), 0o600), os.MkdirAll(filepath.Join(out, "runs", "4"), 0o755)); err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(filepath.Join(out, "explore.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = log.WriteString(`{"seed":4,"ind`)
	}
	if err := errors.Join(err, log.Close()); err != nil {
		t.Fatal(err)
	}
	s.shows[3] = &Story{Finds: []Find{found("SV-02", "left"), found("SV-01", "a")}}
	s.order = nil
	got, err := Explore(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var played []int
	for _, schedule := range s.order {
		played = append(played, schedule.Index)
	}
	if !slices.Equal(played, []int{5, 6, 7}) || len(got.Finds) != 1 || got.Finds[0].Fingerprint.Requirement != "SV-02" {
		t.Errorf("played %v, found %v", played, got.Finds)
	}
	records, _, err := readJournal(filepath.Join(out, "explore.jsonl"))
	if err != nil || len(records) != 7 {
		t.Errorf("the log has %d records (%v)", len(records), err)
	}
	o.Composer = composer(t, 5)
	if _, err := Explore(t.Context(), o); err == nil || !strings.Contains(err.Error(), "seed 4") {
		t.Errorf("another seed in the same folder: %v", err)
	}
}

func TestExplore_InterruptLosesNothing(t *testing.T) {
	s, out := newStage(), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s.end, s.endAt = cancel, 2
	s.shows[2] = &Story{Finds: []Find{found("SV-01", "cut off")}}
	o := s.options(t, out)
	got, err := Explore(ctx, o)
	if !errors.Is(err, context.Canceled) || got.Schedules != 3 || len(got.Finds) != 1 {
		t.Errorf("%+v (%v)", got, err)
	}
	if kept, _ := filepath.Glob(filepath.Join(out, "finds", "2-*")); len(kept) != 1 {
		t.Error("the find of the run that was under way is lost")
	}
}

func TestExplore_EndsWhenNothingCanBeJudged(t *testing.T) {
	s := newStage()
	full := errors.New("the disk is full")
	s.fails = map[int]error{1: full, 3: full, 4: full, 5: full}
	o := s.options(t, t.TempDir())
	got, err := Explore(t.Context(), o)
	if !errors.Is(err, full) || got.Schedules != 6 || got.Spoilt != 4 {
		t.Errorf("%+v (%v)", got, err)
	}
}

func TestExplore_PlaysSideBySide(t *testing.T) {
	s := newStage()
	o := s.options(t, t.TempDir())
	o.Max, o.Parallel = 12, 3
	got, err := Explore(t.Context(), o)
	if err != nil || got.Schedules != 12 {
		t.Fatalf("%+v (%v)", got, err)
	}
	seen := map[int]bool{}
	for _, schedule := range s.order {
		seen[schedule.Index] = true
	}
	if len(seen) != 12 {
		t.Errorf("played %d different schedules", len(seen))
	}
}
