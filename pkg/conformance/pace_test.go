package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

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
	if limits[0] != 2 || slices.Max(limits) != 8 {
		t.Errorf("on 4 CPUs it begins with %d and comes to %d, want 2 and 8", limits[0], slices.Max(limits))
	}
	if one := newPace(Auto, 1); one.now() != 1 || one.most != autoLeast {
		t.Errorf("on 1 CPU it begins with %d and may come to %d", one.now(), one.most)
	}
	// A number that was asked for stays.
	limits, _ = machine{1}.play(t, newPace(3, 1), 50)
	if slices.Min(limits[:len(limits)-1]) != 3 || slices.Max(limits) != 3 {
		t.Errorf("3 at a time were asked for, and %v played", limits)
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

func (c *crowded) Play(ctx context.Context, args []string, line Line, dir string, started func(Process) error) (Played, error) {
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
	return c.inProcess.Play(ctx, args, line, dir, started)
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
