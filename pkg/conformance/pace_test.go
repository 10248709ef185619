package conformance

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
)

// machine starves a run that begins while more than so many others are played.
type machine struct{ carries int }

// play plays runs in lockstep, all that may be played at a time, and returns how many there were
// at a time and how many runs were starved.
func (m machine) play(t *testing.T, p *pace, runs int) (limits []int, starved int) {
	t.Helper()
	for runs > 0 {
		limit := p.now()
		var ages []int
		for range min(limit, runs) {
			age, err := p.begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ages = append(ages, age)
		}
		limits = append(limits, limit)
		for _, age := range ages {
			over := limit > m.carries
			if over {
				starved++
			}
			p.learn(age, over)
			p.end()
		}
		runs -= len(ages)
	}
	return limits, starved
}

func TestPace_FindsWhatTheMachineCarries(t *testing.T) {
	for _, carries := range []int{1, 2, 3, 5, 7} {
		limits, starved := machine{carries}.play(t, newPace(Auto, 4), 300)
		half := slices.Sorted(slices.Values(limits[len(limits)/2:]))
		if median := half[len(half)/2]; median != carries {
			t.Errorf("a machine that carries %d plays %d at a time in the end: %v", carries, median, limits)
		}
		// Each step back starves those that were played with it, and the same limit is tried
		// again after 20, 40 and 80 runs.
		if starved > 4*(carries+1) {
			t.Errorf("a machine that carries %d starves %d of 300 runs: %v", carries, starved, limits)
		}
	}
}

func TestPace_StaysWithinTheMachine(t *testing.T) {
	limits, _ := machine{1000}.play(t, newPace(Auto, 4), 500)
	if limits[0] != 2 || slices.Max(limits) != 12 {
		t.Errorf("on 4 CPUs it begins with %d and comes to %d, want 2 and 12", limits[0], slices.Max(limits))
	}
	if one := newPace(Auto, 1); one.now() != 1 || one.most != 3 {
		t.Errorf("on 1 CPU it begins with %d and may come to %d", one.now(), one.most)
	}
	// A number that was asked for stays.
	limits, _ = machine{1}.play(t, newPace(3, 1), 50)
	if slices.Min(limits[:len(limits)-1]) != 3 || slices.Max(limits) != 3 {
		t.Errorf("3 at a time were asked for, and %v played", limits)
	}
}

// An idle machine plays one more after a few looks, whether or not a run has ended; one with
// something to do, or with turns that are free, does not.
func TestPace_RisesOnAnIdleMachine(t *testing.T) {
	p := newPace(Auto, 2)
	begin := func() int {
		t.Helper()
		age, err := p.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return age
	}
	looks := func(idle float64, n int) int {
		for range n {
			p.look(idle)
		}
		return p.now()
	}
	if got := looks(2, 10*autoLooks); got != 1 {
		t.Errorf("with nothing played %d may be played", got)
	}
	age := begin()
	if got := looks(autoSpare, autoLooks-1); got != 1 {
		t.Errorf("%d at a time after too few looks", got)
	}
	if got := looks(autoSpare-0.01, 1); got != 1 {
		t.Errorf("%d at a time on a busy machine", got)
	}
	if got := looks(autoSpare, autoLooks-1); got != 1 {
		t.Errorf("%d at a time, and the last looks were below on average", got)
	}
	if got := looks(autoSpare, 1); got != 2 {
		t.Fatalf("%d at a time on an idle machine, want 2", got)
	}
	if got := looks(2, 10*autoLooks); got != 2 {
		t.Errorf("%d at a time, and one of 2 is not played yet", got)
	}
	for p.now() < p.most {
		begin()
		before := p.now()
		if got := looks(2, autoLooks); got != before+1 {
			t.Fatalf("%d at a time after %d", got, before)
		}
	}
	// What starved stays out of reach, however idle the machine is.
	begin()
	p.learn(age, true)
	if p.now() != 3 {
		t.Errorf("%d at a time after 6 starved, want 3", p.now())
	}
	if got := looks(2, 10*autoLooks); got != 5 {
		t.Errorf("%d at a time, want 5, below the 6 that starved", got)
	}
}

// The pace is told how many CPUs were idle, whatever the time between two looks, and the view what
// became of it.
func TestCampaign_WatchesTheMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var idle time.Duration
		view, p := &heard{}, newPace(Auto, 2)
		c := &campaign{pace: p, Options: Options{Clock: clock.RealClock{}, View: view, Idle: func() (time.Duration, error) { return idle, nil }}}
		if _, err := p.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go c.watch(ctx)
		synctest.Wait()
		for range 10 * autoLooks {
			idle += autoLook / 4 // a quarter of a CPU
			time.Sleep(autoLook)
			synctest.Wait()
		}
		if p.now() != 1 || len(view.lines) != 0 {
			t.Errorf("%d at a time with a quarter of a CPU idle: %q", p.now(), view.lines)
		}
		for range autoLooks {
			idle += autoLook
			time.Sleep(autoLook)
			synctest.Wait()
		}
		if p.now() != 2 || !contains(view.lines, "paced 2") {
			t.Errorf("%d at a time with a CPU idle: %q", p.now(), view.lines)
		}
	})
}

// This machine's idle time is one that goes on.
func TestMachineIdle(t *testing.T) {
	first, err := MachineIdle()
	if err != nil {
		t.Skipf("not told here: %v", err)
	}
	second, err := MachineIdle()
	if err != nil || first <= 0 || second < first {
		t.Errorf("%v, then %v, %v", first, second, err)
	}
}

// A moment in which a run takes all CPUs does not hold up a machine that is idle for the most part.
func TestPace_RisesByTheAverage(t *testing.T) {
	p := newPace(Auto, 2)
	p.running = 1
	for i := range autoLooks {
		p.look(float64(i % 2))
	}
	if p.now() != 2 {
		t.Errorf("%d at a time with half of a CPU idle on average, want 2", p.now())
	}
}

// What starved once and is carried later is no ceiling any more.
func TestPace_RisesAboveWhatIsCarriedAgain(t *testing.T) {
	p := newPace(Auto, 2)
	p.limit, p.running, p.ceiling = 3, 3, 3
	for range autoLooks {
		p.look(2)
	}
	if p.now() != 4 {
		t.Errorf("%d at a time, want 4", p.now())
	}
}

// A fixed number stays what it is.
// sharing notes how many CPUs each run gets.
type sharing struct {
	inProcess

	at   sync.Mutex
	each []int
}

func (s *sharing) Play(ctx context.Context, order Order, started func(Process) error) (Played, error) {
	s.at.Lock()
	s.each = append(s.each, order.CPUs)
	s.at.Unlock()
	return s.inProcess.Play(ctx, order, started)
}

// A run gets its share of the CPUs among those that may be played when it begins.
func TestCampaign_RunsShareTheCPUs(t *testing.T) {
	for parallel, want := range map[int]int{1: 8, 3: 2, Auto: 2} {
		player := &sharing{}
		playCampaign(t, planned(t, func(r *Request) { r.Repeat = 1 }), fakerun.Script{}, Options{Parallel: parallel, CPUs: 8, Player: player})
		if len(player.each) == 0 || player.each[0] != want {
			t.Errorf("%d at a time: a run gets %d of 8 CPUs, want %d first", parallel, player.each, want)
		}
	}
}

// A process of a run is told by what the Go runtime reads, whatever this process was told.
func TestChild_TellsItsShareOfTheCPUs(t *testing.T) {
	t.Setenv(cluster.CPUsVariable, "7")
	dir := filepath.Join(t.TempDir(), "run")
	order := Order{Args: []string{cluster.CPUsVariable}, Dir: dir, CPUs: 3}
	played, err := Child{Program: "printenv"}.Play(t.Context(), order, func(Process) error { return nil })
	if err != nil || played.Said != "3" {
		t.Errorf("%+v, %v", played, err)
	}
}

func TestPace_LooksOnlyWithAuto(t *testing.T) {
	p := newPace(1, 2)
	if _, err := p.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 10 * autoLooks {
		p.look(2)
	}
	if p.now() != 1 {
		t.Errorf("%d at a time", p.now())
	}
}

// All runs of one moment that are starved make one step back.
func TestPace_StepsBackOnceForRunsOfOneLimit(t *testing.T) {
	p := newPace(Auto, 16)
	var ages []int
	for range 8 {
		age, err := p.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ages = append(ages, age)
	}
	for _, age := range ages {
		p.learn(age, true)
	}
	if p.now() != 4 {
		t.Errorf("%d at a time, want half of 8", p.now())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.begin(ctx); err == nil {
		t.Error("a run begins after the end")
	}
}

func TestParseParallel(t *testing.T) {
	for text, want := range map[string]int{"auto": Auto, "1": 1, "12": 12} {
		if got, err := ParseParallel(text); got != want || err != nil {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "Auto", "2.5"} {
		if _, err := ParseParallel(text); err == nil || !strings.Contains(err.Error(), "--parallel") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// crowded leaves no bundle of a run that begins while more than carries others are played.
type crowded struct {
	inProcess

	carries int

	at      sync.Mutex
	playing int
	most    int
}

func (c *crowded) Play(ctx context.Context, order Order, started func(Process) error) (Played, error) {
	c.at.Lock()
	c.playing++
	c.most = max(c.most, c.playing)
	over := c.playing > c.carries
	c.at.Unlock()
	defer func() {
		c.at.Lock()
		defer c.at.Unlock()
		c.playing--
	}()
	if over {
		return Played{Status: 3, Said: "evenkeel: the control plane did not come up in time"}, started(Process{})
	}
	return c.inProcess.Play(ctx, order, started)
}

// A campaign that plays too many at a time plays fewer, tries again what came to nothing, and
// comes to the report of one that plays one after the other.
func TestCampaign_AutoComesToTheSameReport(t *testing.T) {
	plan := planned(t, func(r *Request) {
		r.Scenarios, r.Repeat, r.Tries = []string{"restart-skew", "rolling-upgrade"}, 8, maxTries
	})
	alone, _ := playCampaign(t, plan, fakerun.Script{}, Options{})
	player, view := &crowded{carries: 2}, &heard{}
	rep, dir := playCampaign(t, plan, fakerun.Script{}, Options{Parallel: Auto, CPUs: 8, Player: player, View: view})
	if rep.Verdict != alone.Verdict || of(t, rep, "SV-06").Tested.Kept != of(t, alone, "SV-06").Tested.Kept {
		t.Errorf("%s with %+v, and alone %s with %+v", rep.Verdict, of(t, rep, "SV-06").Tested, alone.Verdict, of(t, alone, "SV-06").Tested)
	}
	if player.most < 3 || rep.Runs.Tries == rep.Runs.Planned {
		t.Errorf("%d were played at a time, and %d tries: nothing was too much", player.most, rep.Runs.Tries)
	}
	if !contains(view.lines, "paced 2") {
		t.Errorf("the view was not told: %q", view.lines)
	}
	// A campaign that goes on finds out anew.
	c, err := Resume(t.Context(), options(t, fakerun.Script{}, Options{Dir: dir}))
	if err != nil || fmt.Sprint(c.Counts) != fmt.Sprint(rep.Counts) {
		t.Errorf("%v, %v", c, err)
	}
}
