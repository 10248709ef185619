package check

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// brittle is a check that does what a test tells it to.
type brittle struct {
	findings
	observe, finish func(*World, *history.Event)
	observations    func() []Observation
}

func (b *brittle) Observe(w *World, ev *history.Event) {
	if b.observe != nil {
		b.observe(w, ev)
	}
}

func (b *brittle) Finish(w *World) {
	if b.finish != nil {
		b.finish(w, nil)
	}
}

func (b *brittle) Observations() []Observation {
	if b.observations != nil {
		return b.observations()
	}
	return []Observation{{What: "things", Seen: 1, Need: 1}}
}

// judgeWith judges by a check of the test's own, beside the one of AD-02.
func judgeWith(t *testing.T, b *brittle, told *tale) Result {
	t.Helper()
	req, _ := requirement.Lookup("AD-02")
	j := Begin(told.header, []requirement.Requirement{req, req})
	b.sources = []Source{SourceEtcd}
	j.runners[0].check, j.runners[0].entry = b, entry{sources: b.sources}
	for i := range told.events {
		j.Take(&told.events[i])
	}
	results := j.End(told.broken).Results
	if results[1].Verdict != Inconclusive || strings.Contains(fmt.Sprint(results[1].Reasons), "crashed") {
		t.Errorf("another check is harmed: %v", results[1])
	}
	return results[0]
}

func whole() *tale {
	return tell().writes("a", v1, 5).add(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
}

func TestACrashingCheckIsInconclusive(t *testing.T) {
	crash := func(*World, *history.Event) { panic("oh no") }
	for name, b := range map[string]*brittle{
		"observing": {observe: crash},
		"finishing": {finish: crash},
		"counting":  {observations: func() []Observation { panic("oh no") }},
	} {
		t.Run(name, func(t *testing.T) {
			r := judgeWith(t, b, whole())
			if r.Verdict != Inconclusive {
				t.Errorf("%s", r.Verdict)
			}
			reason(t, r, "the check itself crashed: oh no")
		})
	}
}

func TestACrashHidesNoBreach(t *testing.T) {
	b := &brittle{}
	b.observe = func(w *World, ev *history.Event) {
		b.violate(at(ev.Seq), "broken")
		panic("oh no")
	}
	if r := judgeWith(t, b, whole()); r.Verdict != Fail || r.ViolationCount != 1 {
		t.Errorf("%s %v", r.Verdict, r.Violations)
	}
}

func TestWhatIsNeededToPass(t *testing.T) {
	end := func(complete bool) history.Event {
		return history.Event{Kind: history.KindEnd, End: &history.End{Complete: complete, Message: "no time"}}
	}
	fault := func(phase history.Phase, proof string) history.Event {
		return history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "f", Type: "PodChaos", Action: "kill", Phase: phase, Proof: proof}}
	}
	lost := tell().writes("a", v1, 5).writes("a", v1, 6).add(end(true))
	lost.events = append(lost.events[:1], lost.events[2:]...)
	damaged := whole()
	damaged.broken = []string{"Line 3 is no event."}
	for _, tc := range []struct {
		name   string
		told   *tale
		check  brittle
		reason string
	}{
		{name: "nothing more", told: whole()},
		{name: "counted nothing", told: whole(), check: brittle{observations: func() []Observation { return nil }}, reason: "the check counted nothing"},
		{name: "counted too little", told: whole(), check: brittle{observations: func() []Observation { return []Observation{{What: "sheep", Seen: 1, Need: 2}} }}, reason: "saw 1 sheep, and needs at least 2"},
		{name: "no end", told: tell().writes("a", v1, 5), reason: "has no end: the run was cut off"},
		{name: "not played to its end", told: tell().add(end(false)), reason: "not played to its end: no time"},
		{name: "a gap of a source", told: tell().gap("etcd").add(end(true)), reason: "the etcd recorder may have missed something 1 times"},
		{name: "a gap of another source", told: tell().gap("watch").add(end(true))},
		{name: "a clock that was set", told: tell().gap(history.GapOfClock).add(end(true)), reason: "times cannot be told: m"},
		{name: "a gap of a source that nobody knows", told: tell().gap("gps").add(end(true)), reason: "recorders that this evenkeel does not know"},
		{name: "events of etcd out of order", told: tell().writes("a", v1, 9).writes("a", v1, 3).add(end(true)), reason: "the etcd recorder may have missed"},
		{name: "damage", told: damaged, reason: "damaged: Line 3 is no event."},
		{name: "a lost line that nobody told of", told: lost, reason: "lines are missing"},
		{name: "a fault without a witness", told: tell().add(fault(history.PhaseInject, "")).add(fault(history.PhaseHeal, "")).add(end(true)), reason: "the fault f (PodChaos kill on a) never proved that it bit"},
		{name: "a witness without a proof", told: tell().add(fault(history.PhaseInject, "")).add(fault(history.PhaseWitness, "")).add(end(true)), reason: "never proved that it bit"},
		{name: "a fault with a witness", told: tell().add(fault(history.PhaseInject, "")).add(fault(history.PhaseWitness, "gone")).add(end(true))},
		{name: "a fault twice, with one witness", told: tell().add(fault(history.PhaseInject, "")).add(fault(history.PhaseInject, "")).add(fault(history.PhaseWitness, "gone")).add(end(true)), reason: "never proved that it bit"},
		{
			name:   "an open question",
			told:   tell().writes("a", v1, 5).pass(tail * 2).add(end(true)),
			reason: "1 things could not be judged: what etcd told ends at revision 5, before theirs",
		},
		{
			name: "a question that is open at the very end",
			told: tell().writes("a", v1, 5).add(end(true)),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := judgeWith(t, &tc.check, tc.told)
			if (r.Verdict == Pass) != (tc.reason == "") || r.Verdict == Fail {
				t.Errorf("%s: %q", r.Verdict, r.Reasons)
			}
			if tc.reason != "" {
				reason(t, r, tc.reason)
			}
		})
	}
}

// What follows from something that may not have been recorded proves nothing;
// what a line shows by itself does.
func TestABreachAfterAGap(t *testing.T) {
	for _, tc := range []struct {
		name    string
		firmly  bool
		gap     string
		verdict Verdict
	}{
		{"inferred", false, "etcd", Inconclusive},
		{"shown", true, "etcd", Fail},
		{"inferred, from another source", false, "watch", Fail},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := &brittle{}
			b.observe = func(w *World, ev *history.Event) {
				switch {
				case ev.Stored == nil:
				case tc.firmly:
					b.violate(at(ev.Seq), "broken")
				default:
					b.infer(w, at(ev.Seq), "broken")
				}
			}
			r := judgeWith(t, b, tell().gap(tc.gap).writes("a", v1, 5).add(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}}))
			if r.Verdict != tc.verdict {
				t.Errorf("%s: %q", r.Verdict, r.Reasons)
			}
			if tc.verdict == Inconclusive {
				reason(t, r, "1 breaches seemed to show after something had been missed, so they prove nothing; the first: broken")
			}
		})
	}
}

func TestViolationsAreCountedBeyondWhatIsKept(t *testing.T) {
	b := &brittle{}
	b.observe = func(w *World, ev *history.Event) {
		for range maxViolations + 5 {
			b.violate(at(ev.Seq, 0), "broken")
		}
	}
	r := judgeWith(t, b, tell().add(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}}))
	if len(r.Violations) != maxViolations || r.ViolationCount != maxViolations+5 || len(r.Violations[0].Evidence) != 1 {
		t.Errorf("%d kept of %d: %v", len(r.Violations), r.ViolationCount, r.Violations[0])
	}
}

func TestARequirementWithoutACheckIsSkipped(t *testing.T) {
	j, err := Judge(whole(), []requirement.Requirement{{ID: "XX-99", Level: requirement.Must, Promise: "p"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := j.Results[0]; r.Verdict != Skipped || r.Promise != "p" || r.Level != requirement.Must || Built("XX-99") {
		t.Errorf("%v", r)
	}
}

type brokenDisk struct{ *tale }

func (brokenDisk) Next() (*history.Event, error) { return nil, errors.New("input/output error") }

func TestADiskErrorIsNoVerdict(t *testing.T) {
	if j, err := Judge(brokenDisk{tell()}, requirement.All()); err == nil || j != nil {
		t.Errorf("%v %v", j, err)
	}
}

func TestJudgementTellsOfTheRun(t *testing.T) {
	told := tell().holds(history.PhaseBegin, 1).holds(history.PhaseEnd, 2).
		add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "f", Type: "T", Action: "A", Component: "etcd", Phase: history.PhaseInject}}).
		add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "f", Phase: history.PhaseWitness, Proof: "p"}}).
		add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "f", Phase: history.PhaseHeal}}).
		add(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true, Message: "done"}})
	told.broken = []string{"d"}
	j, err := Judge(told, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !j.Complete || j.EndMessage != "done" || j.Events != 6 || len(j.Holds) != 1 || j.Holds[0].Releases["a"] != "1" || !reflect.DeepEqual(j.Damage, told.broken) {
		t.Errorf("%+v", j)
	}
	if want := (FaultSeen{ID: "f", Type: "T", Action: "A", Member: "a", Component: "etcd", Witness: "p", Healed: true, healedAt: 4e6}); len(j.Faults) != 1 || j.Faults[0] != want {
		t.Errorf("%+v", j.Faults)
	}
}

func TestProgress(t *testing.T) {
	req, _ := requirement.Lookup("SV-03")
	j := Begin(tell().header, []requirement.Requirement{req, {ID: "XX-99"}})
	if p := j.Progress(); p[0].ID != "SV-03" || p[0].Verdict != Inconclusive || len(p[0].Observations) == 0 || p[1].Verdict != Skipped {
		t.Errorf("%v", p)
	}
	j.Take(&tell().says(things, 5, "a="+v1, "a="+v1).events[0])
	if p := j.Progress(); p[0].Verdict != Fail || p[0].Violations == 0 {
		t.Errorf("%v", p)
	}
	j.runners[0].check = &brittle{}
	if p := j.Progress(); p[0].Verdict != Pass {
		t.Errorf("%v", p)
	}
	j.runners[0].crashed = "yes"
	if p := j.Progress(); p[0].Verdict != Inconclusive {
		t.Errorf("%v", p)
	}
}

func TestWorst(t *testing.T) {
	for _, tc := range []struct {
		verdicts []Verdict
		want     Verdict
	}{
		{nil, Inconclusive},
		{[]Verdict{NotApplicable}, Inconclusive},
		{[]Verdict{Pass}, Pass},
		{[]Verdict{Pass, NotApplicable}, Pass},
		{[]Verdict{Deviation}, Inconclusive},
		{[]Verdict{Pass, Deviation}, Pass},
		{[]Verdict{Deviation, Inconclusive, Pass}, Inconclusive},
		{[]Verdict{Pass, Deviation, Fail}, Fail},
		{[]Verdict{Pass, Skipped}, Inconclusive},
		{[]Verdict{Skipped, Pass}, Inconclusive},
		{[]Verdict{Pass, Inconclusive}, Inconclusive},
		{[]Verdict{Inconclusive, Fail, Pass}, Fail},
		{[]Verdict{Skipped, Fail}, Fail},
		{[]Verdict{"nonsense", Pass}, Inconclusive},
	} {
		var results []Result
		for _, v := range tc.verdicts {
			results = append(results, Result{Verdict: v})
		}
		if got := Worst(results); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.verdicts, got, tc.want)
		}
	}
}

// What the checks stand on may have bugs too: then nothing can be said to have
// passed, and the report still comes out.
func TestCrashOfTheWorldPassesNothing(t *testing.T) {
	header := history.Header{Members: []history.MemberHeader{{Name: "cp1", ServerID: "a"}}}
	j := Begin(header, requirement.All()[:1])
	j.world = nil // the first event falls over this
	j.Take(&history.Event{Seq: 1, Kind: history.KindEnd, End: &history.End{Complete: true}})
	if j.crashed == "" {
		t.Fatal("the crash went unnoticed")
	}
	j.world = newWorld(header)
	got := j.End(nil)
	if got.Results[0].Verdict != Inconclusive || !slices.Contains(got.Doubts, j.crashed) {
		t.Errorf("got %+v with doubts %v", got.Results[0], got.Doubts)
	}
}

func TestSeenAddsUpWhatIsNeeded(t *testing.T) {
	r := Result{Observations: []Observation{{What: "tests", Seen: 3, Need: 1}, {What: "more tests" + withFewest, Seen: 1, Need: 1}, {What: "seconds", Seen: 300, Need: 0}, {What: "other tests", Seen: 4, Need: 2}}}
	if n := r.Seen(); n != 7 {
		t.Errorf("put to the test %d times, want 7", n)
	}
}
