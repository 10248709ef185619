package console

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

var header = history.Header{Members: []history.MemberHeader{{Name: "cp1", Release: "1.2"}, {Name: "cp2", Release: "1.2"}}}

func TestLines(t *testing.T) {
	ready := &history.Event{Member: "cp1", Ready: &history.Ready{Code: 200}}
	unready := &history.Event{Member: "cp1", Ready: &history.Ready{Code: 500}}
	lease := func(name, holder string) *history.Event {
		return &history.Event{Stored: &history.Stored{Name: name, Lease: &history.Lease{Holder: holder}}}
	}
	process := func(component, change string, expected bool) *history.Event {
		return &history.Event{Member: "cp1", Process: &history.Process{Component: component, Change: change, Release: "1.3", Exit: "exit status 1", Expected: expected}}
	}
	step := func(member string, s history.Step) *history.Event { return &history.Event{Member: member, Step: &s} }
	fault := func(phase history.Phase) *history.Event {
		return &history.Event{Member: "cp1", Fault: &history.Fault{ID: "f-1", Type: "PodChaos", Action: "pod-kill", Phase: phase, Proof: "another process"}}
	}
	for _, tc := range []struct {
		name   string
		events []*history.Event
		want   []string
	}{
		{"step", []*history.Event{
			step("", history.Step{Index: 0, Action: "boot", Phase: history.PhaseBegin}),
			step("cp1", history.Step{Index: 2, Action: "upgrade", Release: "1.3", Phase: history.PhaseBegin}),
			step("cp1", history.Step{Index: 2, Action: "upgrade", Release: "1.3", Phase: history.PhaseEnd}),
			step("cp1", history.Step{Index: 3, Action: "crash", Phase: history.PhaseFailed, Message: "no process runs"}),
		}, []string{"step 0/5 boot", "step 2/5 upgrade cp1 to 1.3", "step 3/5 crash cp1 failed: no process runs"}},
		{"hold", []*history.Event{
			{Hold: &history.Hold{Name: "mixed", Phase: history.PhaseBegin, Releases: map[string]string{"cp2": "1.2", "cp1": "1.3"}}},
			{Hold: &history.Hold{Name: "mixed", Phase: history.PhaseEnd}},
		}, []string{`hold "mixed" with cp1 1.3, cp2 1.2`}},
		{"process", []*history.Event{
			process("apiserver", history.ProcessStarted, false),
			process("apiserver", history.ProcessExited, true),
			process("etcd", history.ProcessExited, false),
		}, []string{"etcd of cp1 ended by itself: exit status 1"}},
		{"ready", []*history.Event{process("apiserver", history.ProcessStarted, false), unready, ready, ready, unready, ready},
			[]string{"cp1 is ready at release 1.3", "cp1 is ready at release 1.3"}},
		{"ready again after a pause", []*history.Event{ready, process("apiserver", history.ProcessPaused, false), process("apiserver", history.ProcessResumed, false), ready},
			[]string{"cp1 is ready at release 1.2", "cp1 is ready at release 1.2"}},
		{"ready of a stranger", []*history.Event{{Member: "cp9", Ready: &history.Ready{Code: 200}}}, nil},
		{"fault", []*history.Event{fault(history.PhaseInject), fault(history.PhaseWitness), fault(history.PhaseHeal), fault(history.PhaseWitness)}, []string{
			"fault f-1 (PodChaos pod-kill on cp1) injected", "fault f-1 (PodChaos pod-kill on cp1) bit: another process", "fault f-1 (PodChaos pod-kill on cp1) healed",
			"fault f-1 (PodChaos pod-kill on cp1) is over: another process"}},
		{"etcd", []*history.Event{{EtcdHealth: &history.EtcdHealth{}}}, []string{"no etcd was asked"}},
		{"gap", []*history.Event{{RecorderMissed: &history.RecorderMissed{Source: "etcd", Message: "compacted"}}}, []string{"the etcd recorder may have missed something: compacted"}},
		{"leader", []*history.Event{lease("kcm", "cp1_x"), lease("kcm", "cp1_x"), lease("kcm", ""), lease("kcm", "cp2_y"), lease("other", "cp2_y")},
			[]string{"cp1_x now leads kcm", "cp2_y now leads kcm", "cp2_y now leads other"}},
		{"a node's Lease leads nothing", []*history.Event{{Stored: &history.Stored{Name: "kube-node-lease/a", Lease: &history.Lease{Holder: "a"}}}}, nil},
		{"an identity Lease leads nothing", []*history.Event{{Stored: &history.Stored{Name: "a", Lease: &history.Lease{Holder: "a", Identity: true}}}}, nil},
		{"other events", []*history.Event{{Request: &history.Request{}}, {Watch: &history.Watch{}}, {HostedResources: &history.HostedResources{}}, {End: &history.End{}},
			{Stored: &history.Stored{}}, {}}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			c := New(&out, header, 5)
			for _, ev := range tc.events {
				ev.At = int64(61500 * time.Millisecond)
				c.Show(ev, nil)
			}
			c.Close()
			want := ""
			for _, line := range tc.want {
				want += "   61.5s  " + line + "\n"
			}
			if out.String() != want {
				t.Errorf("got\n%swant\n%s", out.String(), want)
			}
		})
	}
}

func TestABreachIsToldOnce(t *testing.T) {
	var out bytes.Buffer
	c := New(&out, header, 1)
	broken := check.Progress{ID: "SV-06", Verdict: check.Fail}
	for _, progress := range [][]check.Progress{
		{{ID: "SV-06", Verdict: check.Pass}, {ID: "SV-07", Verdict: check.Inconclusive}},
		{broken, {ID: "SV-07", Verdict: check.Pass}},
		{broken, {ID: "SV-07", Verdict: check.Fail}},
		{broken, {ID: "SV-07", Verdict: check.Fail}},
		{broken, {ID: "SV-08", Verdict: check.Fail, Unlisted: true}},
	} {
		c.Show(&history.Event{}, progress)
	}
	if got, want := out.String(), "    0.0s  SV-06 is broken\n    0.0s  SV-07 is broken\n    0.0s  SV-08 is broken (unlisted)\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestStatusLine(t *testing.T) {
	var out bytes.Buffer
	c := newConsole(&out, header, 2, true, 0)
	c.Say("hello")
	progress := []check.Progress{{ID: "SV-01", Verdict: check.Pass}, {ID: "SV-02", Verdict: check.Fail}, {ID: "SV-03", Verdict: check.Inconclusive}}
	at := int64(61 * time.Second)
	c.Show(&history.Event{At: at, Step: &history.Step{Index: 1, Action: "hold", Phase: history.PhaseBegin}}, progress)
	c.Show(&history.Event{At: at, Member: "cp1", Process: &history.Process{Component: "apiserver", Change: history.ProcessStarted, Release: "1.3"}}, progress)
	c.Show(&history.Event{At: at, Stored: &history.Stored{Name: "kcm", Lease: &history.Lease{Holder: "cp2_1234"}}}, progress)
	const want = "01:01 | step 1/2 hold | cp1 1.3 starting | cp2 1.2 off | leader cp2 | 1 pass 1 fail 1 open"
	if got := screen(out.String()); got[len(got)-1] != want {
		t.Errorf("the status line is\n%q, want\n%q", got[len(got)-1], want)
	}

	before := out.Len()
	c.Show(&history.Event{At: at}, progress)
	if out.Len() != before {
		t.Error("a status line that did not change was written again")
	}

	c.Close()
	c.Close()
	got := screen(out.String())
	wantLines := []string{"    0.0s  hello", "   61.0s  step 1/2 hold", "   61.0s  SV-02 is broken", "   61.0s  cp2_1234 now leads kcm", ""}
	if strings.Join(got, "\n") != strings.Join(wantLines, "\n") {
		t.Errorf("the screen ends as\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wantLines, "\n"))
	}
}

func TestStatusLineIsCutToTheWidth(t *testing.T) {
	for _, width := range []int{1, 10, 40, 1000} {
		var out bytes.Buffer
		c := newConsole(&out, history.Header{Members: []history.MemberHeader{{Name: "größter", Release: "1.2"}}}, 2, true, width)
		c.Show(&history.Event{}, nil)
		lines := screen(out.String())
		// The last column stays free: writing into it makes some terminals wrap.
		if last := lines[len(lines)-1]; utf8.RuneCountInString(last) >= width || !utf8.ValidString(last) {
			t.Errorf("width %d: %q", width, last)
		}
	}
}

func TestNoTerminal(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := New(file, header, 1)
	c.Show(&history.Event{}, nil)
	c.Close()
	if info, err := file.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("a status line went to a file: %v, %v", info, err)
	}
}

// screen is what a terminal shows after this output.
func screen(out string) []string {
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		at := strings.LastIndex(line, "\r\x1b[K")
		if at >= 0 {
			lines[i] = line[at+len("\r\x1b[K"):]
		}
	}
	return lines
}
