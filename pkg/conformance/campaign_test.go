package conformance

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
)

func TestCampaign_TellsEachOutcome(t *testing.T) {
	for _, c := range []struct {
		name    string
		runs    map[string]string
		verdict check.Verdict
		tested  func(Tested) bool
		runsOf  Runs
		tries   int // of the first line
		reason  string
	}{
		{"all kept", nil, check.Pass, func(n Tested) bool { return n.Kept == 2 && n.Met > 0 }, Runs{Planned: 2, Kept: 2, Tries: 2}, 1, ""},
		{"one broken", map[string]string{"restart-skew/1": fakerun.Fail}, check.Fail, func(n Tested) bool { return n.Kept == 1 && n.Broken == 1 && n.Late > 0 },
			Runs{Planned: 2, Kept: 1, Broken: 1, Tries: 2}, 1, "broken in 1 of 2 conclusive runs"},
		{"one open at first", map[string]string{"restart-skew/1": fakerun.WeakOnce}, check.Pass, func(n Tested) bool { return n.Kept == 2 }, Runs{Planned: 2, Kept: 2, Tries: 3}, 2, ""},
		{"one open", map[string]string{"restart-skew/1": fakerun.Weak}, check.Inconclusive, func(n Tested) bool { return n.Kept == 1 && n.Open == 1 },
			Runs{Planned: 2, Kept: 1, Open: 1, Tries: 4}, 3, "line 1 (restart-skew, seed 1) stayed open after 3 tries"},
		{"one crashes at first", map[string]string{"restart-skew/1": fakerun.CrashOnce}, check.Pass, func(n Tested) bool { return n.Kept == 2 }, Runs{Planned: 2, Kept: 2, Tries: 3}, 2, ""},
		{"one crashes", map[string]string{"restart-skew/1": fakerun.Crash}, check.Inconclusive, func(n Tested) bool { return n.Open == 1 },
			Runs{Planned: 2, Kept: 1, Open: 1, Tries: 4}, 3, "it left no bundle, with status 3: the fake has crashed"},
		{"one refused", map[string]string{"restart-skew/1": fakerun.Refuse}, check.Pass, func(n Tested) bool { return n.Refused == 1 && n.Kept == 1 },
			Runs{Planned: 2, Kept: 1, Refused: 1, Tries: 2}, 1, ""},
		{"all refused", map[string]string{"restart-skew/1": fakerun.Refuse, "restart-skew/2": fakerun.Refuse}, check.Inconclusive, func(n Tested) bool { return n.Refused == 2 },
			Runs{Planned: 2, Refused: 2, Tries: 2}, 1, "no scenario that judges it can be played on the target"},
		{"a leak", map[string]string{"restart-skew/1": fakerun.Leak}, check.Inconclusive, func(n Tested) bool { return n.Open == 1 },
			Runs{Planned: 2, Kept: 1, Open: 1, Tries: 4}, 3, "its verdict is pass, and it ended with the status"},
		{"a breach of a run that was killed", map[string]string{"restart-skew/1": fakerun.Dies}, check.Fail, func(n Tested) bool { return n.Broken == 1 },
			Runs{Planned: 2, Kept: 1, Broken: 1, Tries: 2}, 1, "broken in 1 of 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := planned(t, func(r *Request) { r.Scenarios, r.Repeat = []string{"restart-skew"}, 2 })
			player := leaking{&inProcess{script: fakerun.Script{Runs: c.runs}}, c.runs["restart-skew/1"] == fakerun.Leak}
			rep, _ := playCampaign(t, plan, fakerun.Script{}, Options{Player: player})
			req := of(t, rep, fakerun.Judges)
			if rep.Verdict != c.verdict || !c.tested(req.Tested) || rep.Runs != c.runsOf {
				t.Errorf("verdict %s, want %s\n%+v\n%+v\n%q", rep.Verdict, c.verdict, req.Tested, rep.Runs, req.Reasons)
			}
			if got := len(rep.Lines[0].Tries); got != c.tries {
				t.Errorf("%d tries, want %d: %+v", got, c.tries, rep.Lines[0].Tries)
			}
			if c.reason != "" && !contains(req.Reasons, c.reason) {
				t.Errorf("the reasons are %q, want %q", req.Reasons, c.reason)
			}
			if c.verdict == check.Fail && (len(req.Breaches) != 1 || req.Breaches[0].Bundle != rep.Lines[0].Tries[0].Bundle || len(req.Breaches[0].Events) == 0) {
				t.Errorf("the breach has no evidence: %+v", req.Breaches)
			}
		})
	}
}

// leaking has a run of the first seed end with the status of one that must not count.
type leaking struct {
	*inProcess
	leaks bool
}

func (l leaking) Play(ctx context.Context, order Order, started func(Process) error) (Played, error) {
	played, err := l.inProcess.Play(ctx, order, started)
	if l.leaks && order.Line.Seed == 1 {
		played = Played{3, "the bundle held a credential"}
	}
	return played, err
}

func TestCampaign_BoundIsAskedFor(t *testing.T) {
	ask := func(r *Request) {
		r.Scenarios, r.Confidence, r.Rate = []string{"restart-skew", "rolling-upgrade"}, 0.95, 0.1
	}
	plan := planned(t, ask)
	if len(plan.Lines) != 29 {
		t.Fatalf("%d lines, want 29", len(plan.Lines))
	}
	rep, _ := playCampaign(t, plan, fakerun.Script{}, Options{Parallel: 2})
	bound := of(t, rep, fakerun.Judges).MayFail
	if rep.Verdict != check.Pass || bound == nil || *bound != (MayFail{0, 29, "9.9%", "95.0%"}) {
		t.Errorf("%s, %+v", rep.Verdict, bound)
	}
	// One refused run leaves 28, and these say too little.
	rep, _ = playCampaign(t, plan, fakerun.Script{Runs: map[string]string{"restart-skew/3": fakerun.Refuse}}, Options{Parallel: 2})
	req := of(t, rep, fakerun.Judges)
	if rep.Verdict != check.Inconclusive || !contains(req.Reasons, "28 clean runs bound it at 10.2%, and 10.0% were asked for") {
		t.Errorf("%s, %q", rep.Verdict, req.Reasons)
	}
}

// A bundle that is not of the line says nothing of it, whatever its verdict.
func TestCampaign_RefusesTheBundleOfAnotherRun(t *testing.T) {
	plan := planned(t, func(r *Request) { r.Scenarios, r.Tries = []string{"restart-skew"}, 1 })
	plan.Lines[0].ScenarioDigest = strings.Repeat("0", 64)
	rep, _ := playCampaign(t, plan, fakerun.Script{}, Options{})
	if rep.Verdict != check.Inconclusive || !strings.Contains(rep.Lines[0].Tries[0].Why, "its bundle is of another run: scenario.yaml is") {
		t.Errorf("%s, %+v", rep.Verdict, rep.Lines)
	}
}

func TestCampaign_RefusesWrongFolders(t *testing.T) {
	plan := planned(t, func(r *Request) { r.Scenarios = []string{"restart-skew"} })
	_, dir := playCampaign(t, plan, fakerun.Script{}, Options{})
	o := options(t, fakerun.Script{}, Options{Dir: dir})
	if _, err := Begin(t.Context(), plan, o); err == nil || !strings.Contains(err.Error(), "conformance resume") {
		t.Errorf("a new campaign in the folder of another: %v", err)
	}
	journal, _, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another evenkeel is playing") {
		t.Errorf("a campaign that is being played: %v", err)
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(t.Context(), options(t, fakerun.Script{}, Options{Dir: t.TempDir()})); err == nil || !strings.Contains(err.Error(), "has no plan.yaml") {
		t.Errorf("no campaign: %v", err)
	}
	plan.Suite = "another"
	other := filepath.Join(t.TempDir(), "other")
	if _, err := Begin(t.Context(), plan, options(t, fakerun.Script{}, Options{Dir: other})); err == nil || !strings.Contains(err.Error(), "is of the suite") {
		t.Errorf("a plan of another suite: %v", err)
	}
}

// A campaign that is resumed plays what is missing, and nothing else.
func TestResume_PlaysWhatIsMissing(t *testing.T) {
	plan := planned(t, func(r *Request) { r.Scenarios, r.Repeat = []string{"restart-skew", "rolling-upgrade"}, 2 })
	script := fakerun.Script{Runs: map[string]string{"restart-skew/2": fakerun.WeakOnce}}
	whole, _ := playCampaign(t, plan, script, Options{})

	ctx, cancel := context.WithCancel(t.Context())
	player := &stopping{inProcess: &inProcess{script: script}, after: 2, cancel: cancel}
	o := options(t, script, Options{Player: player})
	if _, err := Begin(ctx, plan, o); err == nil || !strings.Contains(err.Error(), "interrupted after 2 of 4 runs") {
		t.Fatalf("%v", err)
	}
	// A crash leaves a last entry half-written.
	journal := filepath.Join(o.Dir, JournalFile)
	file, err := os.OpenFile(journal, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"started":{"li`); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	rest := &inProcess{script: script}
	o.Player = rest
	resumed, err := Resume(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := masked(t, resumed), masked(t, whole); got != want {
		t.Errorf("the resumed campaign says\n%s\nand the undisturbed one\n%s", got, want)
	}
	if len(rest.played) != 3 {
		t.Errorf("played %q, want the three tries that were missing", rest.played)
	}
}

// stopping ends the campaign after so many runs.
type stopping struct {
	*inProcess
	after  int
	cancel func()
}

func (s *stopping) Play(ctx context.Context, order Order, started func(Process) error) (Played, error) {
	if len(s.played) == s.after {
		s.cancel()
	}
	return s.inProcess.Play(ctx, order, started)
}
