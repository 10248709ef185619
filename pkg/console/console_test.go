package console

import (
	"bytes"
	"io"
	"os"
	"slices"
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
	c := newConsole(&out, header, 2, func() int { return 0 })
	c.Say("hello")
	progress := []check.Progress{{ID: "SV-01", Verdict: check.Pass}, {ID: "SV-02", Verdict: check.Fail}, {ID: "SV-03", Verdict: check.Inconclusive}}
	at := int64(61 * time.Second)
	c.Show(&history.Event{At: at, Step: &history.Step{Index: 1, Action: "hold", Phase: history.PhaseBegin}}, progress)
	c.Show(&history.Event{At: at, Member: "cp1", Process: &history.Process{Component: "apiserver", Change: history.ProcessStarted, Release: "1.3"}}, progress)
	c.Show(&history.Event{At: at, Stored: &history.Stored{Name: "kcm", Lease: &history.Lease{Holder: "cp2_1234"}}}, progress)
	const want = "01:01 | 1 pass 1 fail 1 open | step 1/2 hold | cp1 1.3 starting, cp2 1.2 off | leader cp2"
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

func TestStatusLine_DropsPartsUntilItFits(t *testing.T) {
	members := []history.MemberHeader{{Name: "cp1", Release: "1.3"}, {Name: "cp2", Release: "1.2"}, {Name: "cp3", Release: "1.3"}}
	progress := slices.Concat(slices.Repeat([]check.Progress{{Verdict: check.Pass}}, 12), slices.Repeat([]check.Progress{{Verdict: check.Inconclusive}}, 38))
	for width, want := range map[int]string{
		0:   "01:01 | 12 pass 38 open | step 11/16 upgrade cp3 to 1.3 | cp1 1.3 ok, cp2 1.2 ok, cp3 1.3 ok | leader cp1",
		120: "01:01 | 12 pass 38 open | step 11/16 upgrade cp3 to 1.3 | cp1 1.3 ok, cp2 1.2 ok, cp3 1.3 ok | leader cp1",
		100: "01:01 | 12 pass 38 open | step 11/16 | cp1 1.3 ok, cp2 1.2 ok, cp3 1.3 ok | leader cp1",
		80:  "01:01 | 12 pass 38 open | step 11/16 | cp1+cp3 1.3 ok, cp2 1.2 ok | leader cp1",
		60:  "01:01 | 12 pass 38 open | step 11/16 | 3 ok | leader cp1",
		50:  "01:01 | 12 pass 38 open | step 11/16 | 3 ok",
		40:  "01:01 | 12 pass 38 open | step 11/16",
		30:  "01:01 | 12 pass 38 open",
		10:  "01:01 | 1",
		1:   "",
	} {
		var out bytes.Buffer
		c := newConsole(&out, history.Header{Members: members}, 16, func() int { return width })
		at := int64(61 * time.Second)
		c.Show(&history.Event{At: at, Member: "cp3", Step: &history.Step{Index: 11, Action: "upgrade", Release: "1.3", Phase: history.PhaseBegin}}, progress)
		for _, m := range members {
			c.Show(&history.Event{At: at, Member: m.Name, Ready: &history.Ready{Code: 200}}, progress)
		}
		for _, lease := range []string{"kcm", "scheduler"} {
			c.Show(&history.Event{At: at, Stored: &history.Stored{Name: lease, Lease: &history.Lease{Holder: "cp1_1234"}}}, progress)
		}
		lines := screen(out.String())
		// The last column stays free: writing into it makes some terminals wrap.
		if last := lines[len(lines)-1]; last != want || width > 0 && len(last) >= width {
			t.Errorf("width %d: got\n%q, want\n%q", width, last, want)
		}
	}
}

func TestStatusLine_NamesMembersThatAreNotReady(t *testing.T) {
	c := newConsole(io.Discard, header, 2, nil)
	c.Show(&history.Event{Member: "cp1", Ready: &history.Ready{Code: 200}}, nil)
	if got, want := c.statusLine(nil, 35), "00:00 | 0 pass | 1 ok, cp2 off"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStatusLine_IsCutBetweenCharacters(t *testing.T) {
	for _, width := range []int{1, 10, 20, 40} {
		c := newConsole(io.Discard, history.Header{Members: []history.MemberHeader{{Name: "größter", Release: "1.2"}}}, 2, nil)
		if line := c.statusLine(nil, width); utf8.RuneCountInString(line) >= width || !utf8.ValidString(line) {
			t.Errorf("width %d: %q", width, line)
		}
	}
}

func TestLines_FoldBetweenWordsOnATerminal(t *testing.T) {
	var out bytes.Buffer
	c := newConsole(&out, header, 2, func() int { return 40 })
	c.Say("fault leader-crash (PodChaos pod-kill on cp1) injected")
	c.Close()
	if want := "    0.0s  fault leader-crash (PodChaos\n          pod-kill on cp1) injected\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestPlain_LeavesOutTheNumbersOfProcesses(t *testing.T) {
	for proof, want := range map[string]string{
		"apiserver of cp1 is another process now: pid 12438, started at tick 1860275 before, pid 12487, started at tick 1861543 after":                         "apiserver of cp1 is another process now",
		"all processes of cp1 are gone: etcd (pid 1115, started at tick 891940), apiserver (pid 1198, started at tick 892081); its API server answers no more": "all processes of cp1 are gone: etcd, apiserver; its API server answers no more",
		"the process of scheduler at cp2 is gone: pid 4, started at tick 5":                                                                                    "the process of scheduler at cp2 is gone",
		"apiserver runs again: pid 4, started at tick 5":                                                                                                       "apiserver runs again",
		"12 requests (of 30) were denied": "12 requests (of 30) were denied",
	} {
		if got := plain(proof); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Requirements that need no etcd pass without it, so nothing was missed of them.
func TestMissed_SaysWhatAnUnreadEtcdLeavesOut(t *testing.T) {
	gap := &history.RecorderMissed{Source: history.SourceEtcd, Message: "compacted"}
	unread := []history.Lack{{What: history.LackEtcd, Reason: "the topology names no etcd of cp1 that may be read"}}
	for _, tc := range []struct {
		header history.Header
		of     *history.RecorderMissed
		want   string
	}{
		{history.Header{Lacks: unread, Judges: []string{"AD-01", "SV-06", "SV-04"}}, gap, "etcd is not read, since the topology names no etcd of cp1 that may be read; this leaves out SV-06, SV-04"},
		{history.Header{Lacks: unread, Judges: []string{"AD-01"}}, gap, "etcd is not read, since the topology names no etcd of cp1 that may be read; the scenario lists no requirement that needs it"},
		{history.Header{Lacks: unread}, &history.RecorderMissed{Source: history.SourceReady, Message: "late"}, "the " + history.SourceReady + " recorder may have missed something: late"},
		{history.Header{}, gap, "the etcd recorder may have missed something: compacted"},
	} {
		if got := missed(tc.header, tc.of); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
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
