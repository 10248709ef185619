package timeline

import (
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// A step that holds the control plane ends for the runner when the hold begins. The page shows
// it until the hold ends, with how long it waited before.
func TestSteps_LastAsLongAsTheirHolds(t *testing.T) {
	step := func(index int, action string, phase history.Phase) history.Event {
		return history.Event{Kind: history.KindStep, Step: &history.Step{Index: index, Action: action, Phase: phase, Message: "no process runs"}}
	}
	hold := func(phase history.Phase) history.Event {
		return history.Event{Kind: history.KindHold, Hold: &history.Hold{Name: "mixed", Phase: phase, Releases: map[string]string{"cp1": "1.3"}}}
	}
	idle := history.Event{Kind: history.KindReady, Member: "cp1", Ready: &history.Ready{Code: 200}}
	dir := write(t, []history.Event{
		step(1, "hold", history.PhaseBegin), idle, hold(history.PhaseBegin), step(1, "hold", history.PhaseEnd), idle, idle, hold(history.PhaseEnd),
		step(2, "crash", history.PhaseBegin), idle, step(2, "crash", history.PhaseFailed), step(3, "restart", history.PhaseSkipped),
	})
	c, err := collectFile(t.Context(), dir+"/history.jsonl", told())
	if err != nil {
		t.Fatal(err)
	}
	want := []row{
		{"1 hold mixed", "0.05 s", []string{"0.30 s:", "waited 0.10 s,", "held 0.20 s"}, 1},
		{"2 crash failed: no process runs", "0.40 s", []string{"0.10 s"}, 8},
		{"3 restart left out: no process runs", "0.55 s", []string{"0.00 s"}, 11},
	}
	if got := c.story().Steps; !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
	lane, _ := laneOf(c.picture, "The run, steps")
	var styles []int
	for _, s := range lane.Spans {
		styles = append(styles, s.Style)
	}
	if !slices.Equal(styles, []int{styleStep, styleStepFailed, styleStep}) {
		t.Errorf("the styles are %v", styles)
	}
}

// A requirement that was kept names events that show it, which the page can show. An event that
// the history does not have is not named.
func TestPage_NamesEventsOfWhatWasKept(t *testing.T) {
	dir, rep := write(t, tale()), told()
	rep.Results[0].Kept = []check.Example{{About: "core.configmaps", Events: []int64{5, 9}}, {About: "gone", Events: []int64{9_999_999}}}
	html, err := Bundle(t.Context(), dir, rep)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"it was kept every time", "core.configmaps", `href="#event=5"`, `href="#event=9"`, "At 0.45 s (10:00:00 UTC)."} {
		if !strings.Contains(string(html), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(string(html), "9999999") || strings.Contains(string(html), "gone</") {
		t.Error("the page names an event that the history does not have")
	}
	c, err := collectFile(t.Context(), dir+"/history.jsonl", rep)
	if err != nil {
		t.Fatal(err)
	}
	if _, found := slices.BinarySearch(c.picture.Events.Seq, 9); !found {
		t.Error("the page cannot show event 9")
	}
}

// The command that the page names prints the event of that number.
func TestPage_CommandPrintsTheEvent(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	dir := write(t, tale())
	command := exec.CommandContext(t.Context(), shell, "-c", strings.Replace(pictureOf(t, dir).Show, "N", "21", 1))
	command.Dir = dir
	if out, err := command.Output(); err != nil || !strings.HasPrefix(string(out), `{"seq":21,`) || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%v: %s", err, out)
	}
}
