package check

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

func TestJudge_LawThatCrashesIsInconclusiveAndHarmsNoOther(t *testing.T) {
	invent(t, nil, map[requirement.ID]func(*countedFacts, *law.Ledger){
		"XX-01": func(*countedFacts, *law.Ledger) { panic("oh no") },
		"XX-02": meets,
	})
	j, err := Judge(complete(), []requirement.Requirement{invented("XX-01"), invented("XX-02")})
	if err != nil {
		t.Fatal(err)
	}
	if r := j.Results[0]; r.Verdict != Inconclusive || r.ID != "XX-01" || r.Level != requirement.Must || r.Promise != "p" {
		t.Errorf("the law that crashes gives %+v", r)
	}
	wantReason(t, j.Results[0], "the law itself crashed: oh no")
	if r := j.Results[1]; r.Verdict != Pass {
		t.Errorf("the other law gives %s %q", r.Verdict, r.Reasons)
	}
}

// The facts that all laws rely on may have bugs too: then no requirement passes, and the
// report is still written.
func TestJudge_FactsThatCrashPassNothing(t *testing.T) {
	invent(t, func(ev *history.Event) {
		if ev.Stored != nil {
			panic("oh no")
		}
	}, map[requirement.ID]func(*countedFacts, *law.Ledger){"XX-01": meets})
	j, err := Judge(complete(), []requirement.Requirement{invented("XX-01")})
	if err != nil {
		t.Fatal(err)
	}
	const want = "the judge itself crashed at event 1: oh no"
	if r := j.Results[0]; r.Verdict != Inconclusive || !slices.Contains(j.Doubts, want) || j.Events != 2 {
		t.Errorf("%s with the doubts %q after %d events", r.Verdict, j.Doubts, j.Events)
	}
	wantReason(t, j.Results[0], want)
}

func TestJudge_DoubtTurnsAPassIntoInconclusive(t *testing.T) {
	ended := func(complete bool) history.Event {
		return history.Event{Kind: history.KindEnd, End: &history.End{Complete: complete, Message: "no time"}}
	}
	lost := newHistory().store(5).store(6).end()
	lost.events = slices.Delete(lost.events, 1, 2)
	damaged := complete()
	damaged.damage = []string{"Line 3 is no event."}
	inject, witness, heal := history.PhaseInject, history.PhaseWitness, history.PhaseHeal
	for name, tc := range map[string]struct {
		told   *historyBuilder
		judge  func(*countedFacts, *law.Ledger)
		reason string // empty for a pass
	}{
		"nothing to doubt":                      {told: complete()},
		"the law saw too little":                {told: complete(), judge: func(*countedFacts, *law.Ledger) {}, reason: "saw 0 things, and needs at least 1"},
		"the law doubts":                        {told: complete(), judge: func(f *countedFacts, l *law.Ledger) { meets(f, l); l.Doubt("it is dark") }, reason: "it is dark"},
		"no end":                                {told: newHistory().store(5), reason: "has no end: the run was cut off"},
		"not played to its end":                 {told: newHistory().add(ended(false)), reason: "not played to its end: no time"},
		"a gap of a source of the law":          {told: newHistory().gap("etcd").end(), reason: "the etcd recorder may have missed something 1 times"},
		"a gap of another source":               {told: newHistory().gap("watch").end()},
		"a clock that was set":                  {told: newHistory().gap(history.SourceClock).end(), reason: "times cannot be told: m"},
		"a gap of a recorder that is not known": {told: newHistory().gap("gps").end(), reason: "recorders that this evenkeel does not know"},
		"damage":                                {told: damaged, reason: "damaged: Line 3 is no event."},
		"a missing line that the reader missed": {told: lost, reason: "lines are missing"},
		"a fault without a witness":             {told: newHistory().fault(inject, "").fault(heal, "").end(), reason: "the fault f (PodChaos kill on a) never proved that it bit"},
		"a fault that says why": {told: newHistory().fault(inject, "").add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "f", Type: "PodChaos", Action: "kill", Phase: heal, Note: "it deletes a mirror"}}).end(),
			reason: "the fault f (PodChaos kill on a: it deletes a mirror) never proved that it bit"},
		"a witness without a proof":         {told: newHistory().fault(inject, "").fault(witness, "").end(), reason: "never proved that it bit"},
		"a fault with a witness":            {told: newHistory().fault(inject, "").fault(witness, "gone").fault(heal, "").end()},
		"a fault that was never healed":     {told: newHistory().fault(inject, "").fault(witness, "gone").end(), reason: "the fault f (PodChaos kill on a) was never healed"},
		"a fault twice, healed once":        {told: newHistory().fault(inject, "").fault(witness, "gone").fault(inject, "").fault(witness, "gone").fault(heal, "").end(), reason: "the fault f (PodChaos kill on a) was never healed"},
		"a process that stays paused":       {told: newHistory().process(history.ProcessStarted).process(history.ProcessPaused).end(), reason: "the etcd of a was paused and never resumed"},
		"a process that was resumed":        {told: newHistory().process(history.ProcessStarted).process(history.ProcessPaused).process(history.ProcessResumed).end()},
		"a paused process that ended":       {told: newHistory().process(history.ProcessStarted).process(history.ProcessPaused).process(history.ProcessExited).end()},
		"a change of before a hold's end":   {told: newHistory().store(5).add(history.Event{Kind: history.KindHold, Hold: &history.Hold{Phase: history.PhaseEnd, Revision: 9}}).store(7).end(), reason: "the recorder of etcd told of 1 changes after it had told of all up to a later one"},
		"a fault twice, with one witness":   {told: newHistory().fault(inject, "").fault(inject, "").fault(witness, "gone").end(), reason: "never proved that it bit"},
		"a wait in vain that no law judges": {told: newHistory().add(history.Event{Kind: history.KindNotReached, Member: "a", NotReached: &history.NotReached{Awaited: "leader"}}).end(), reason: "(event 1)"},
		"a wait in vain that a law judges":  {told: newHistory().add(history.Event{Kind: history.KindNotReached, Member: "a", NotReached: &history.NotReached{Awaited: "leader", Judged: true}}).end()},
		"a wait for readiness in vain":      {told: newHistory().add(history.Event{Kind: history.KindNotReached, Member: "a", NotReached: &history.NotReached{Awaited: history.AwaitedReady}}).end(), reason: "(event 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			judge := meets
			if tc.judge != nil {
				judge = tc.judge
			}
			r := judgeBy(t, tc.told, judge)
			if tc.reason == "" {
				if r.Verdict != Pass || len(r.Reasons) > 0 {
					t.Errorf("%s: %q", r.Verdict, r.Reasons)
				}
				return
			}
			if r.Verdict != Inconclusive {
				t.Errorf("%s: %q", r.Verdict, r.Reasons)
			}
			wantReason(t, r, tc.reason)
		})
	}
}

func TestJudge_DoubtHidesNoBreach(t *testing.T) {
	r := judgeBy(t, newHistory().store(5), breaks)
	if r.Verdict != Fail || r.ViolationCount != 1 {
		t.Errorf("%s %v %q", r.Verdict, r.Violations, r.Reasons)
	}
	wantReason(t, r, "has no end")
}

// breaks enters a breach for each event that stores something.
func breaks(f *countedFacts, l *law.Ledger) {
	for _, at := range f.stored {
		l.Broken("it", at, []int64{at.Seq}, "broken")
	}
}

// A violation that follows from the absence of an event is inconclusive after a gap. A
// violation that an event shows by itself is not.
func TestJudge_BreachAfterAGap(t *testing.T) {
	evident := func(f *countedFacts, l *law.Ledger) {
		for _, at := range f.stored {
			l.Add(law.Entry{Ending: law.Broken, Began: at, Why: "broken", SelfEvident: true})
		}
	}
	for name, tc := range map[string]struct {
		told  *historyBuilder
		judge func(*countedFacts, *law.Ledger)
		want  Verdict
	}{
		"inferred, after the gap":            {newHistory().gap("etcd").store(5).end(), breaks, Inconclusive},
		"inferred, before the gap":           {newHistory().store(5).gap("etcd").end(), breaks, Fail},
		"inferred, and the gap is another's": {newHistory().gap("watch").store(5).end(), breaks, Fail},
		"inferred, and the clock was set":    {newHistory().gap(history.SourceClock).store(5).end(), breaks, Inconclusive},
		"self-evident, after the gap":        {newHistory().gap("etcd").store(5).end(), evident, Fail},
	} {
		t.Run(name, func(t *testing.T) {
			r := judgeBy(t, tc.told, tc.judge)
			if r.Verdict != tc.want {
				t.Errorf("%s, want %s: %q", r.Verdict, tc.want, r.Reasons)
			}
			if tc.want == Inconclusive {
				wantReason(t, r, "1 breaches seemed to show after something had been missed, so they prove nothing; the first: broken")
			}
		})
	}
}

func TestJudge_CountsViolationsBeyondThoseThatItKeeps(t *testing.T) {
	told := newHistory()
	const many = 100
	for i := range int64(many) {
		told.store(i + 1)
	}
	r := judgeBy(t, told.end(), breaks)
	if r.ViolationCount != many || len(r.Violations) == 0 || len(r.Violations) >= many || !reflect.DeepEqual(r.Violations[0].Evidence, []int64{1}) {
		t.Errorf("%d kept of %d: %v", len(r.Violations), r.ViolationCount, r.Violations)
	}
}

func TestJudge_SkipsARequirementWithoutALaw(t *testing.T) {
	j, err := Judge(complete(), []requirement.Requirement{{ID: "XX-99", Level: requirement.Must, Promise: "p"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := j.Results[0]; r.Verdict != Skipped || r.Promise != "p" || r.Level != requirement.Must || Built("XX-99") {
		t.Errorf("%+v", r)
	}
}

type brokenDisk struct{ *historyBuilder }

func (brokenDisk) Next() (*history.Event, error) { return nil, errors.New("input/output error") }

func TestJudge_DiskErrorIsNoVerdict(t *testing.T) {
	if j, err := Judge(brokenDisk{newHistory()}, requirement.All()); err == nil || j != nil {
		t.Errorf("%v %v", j, err)
	}
}

func TestJudge_ReportsFaultsAndEndOfTheRun(t *testing.T) {
	told := newHistory().hold(history.PhaseBegin).hold(history.PhaseEnd).
		fault(history.PhaseInject, "").fault(history.PhaseWitness, "p").fault(history.PhaseHeal, "").end()
	told.damage = []string{"d"}
	j, err := Judge(told, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !j.Complete || j.EndMessage != "done" || j.Events != 6 || j.Took.Milliseconds() != 6 || len(j.Holds) != 1 || j.Holds[0].Releases["a"] != "1" || !reflect.DeepEqual(j.Damage, told.damage) || !reflect.DeepEqual(j.Releases, []string{"1"}) {
		t.Errorf("%+v", j)
	}
	if want := (FaultSeen{ID: "f", Type: "PodChaos", Action: "kill", Member: "a", Component: "etcd", Witness: "p", Healed: true}); len(j.Faults) != 1 || j.Faults[0] != want {
		t.Errorf("%+v", j.Faults)
	}
}

func TestProgress_IsPassOnlyWhileEnoughWasMet(t *testing.T) {
	at := fact.Exactly(1, 1)
	for name, tc := range map[string]struct {
		judge func(*countedFacts, *law.Ledger)
		want  Verdict
	}{
		"nothing was seen":              {func(*countedFacts, *law.Ledger) {}, Inconclusive},
		"enough was met":                {meets, Pass},
		"enough was met, and some open": {func(f *countedFacts, l *law.Ledger) { meets(f, l); l.Open("it", at, "open") }, Pass},
		"some unclear":                  {func(f *countedFacts, l *law.Ledger) { meets(f, l); l.Unclear("it", at, "unclear") }, Inconclusive},
		"more excused than met": {func(f *countedFacts, l *law.Ledger) {
			meets(f, l)
			l.Excused("it", at, "so")
			l.Excused("it", at, "so")
		}, Inconclusive},
		"broken":         {breaks, Fail},
		"a law crashing": {func(*countedFacts, *law.Ledger) { panic("oh no") }, Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			invent(t, nil, map[requirement.ID]func(*countedFacts, *law.Ledger){"XX-01": tc.judge})
			told := newHistory().store(5)
			j := Begin(told.header, []requirement.Requirement{invented("XX-01"), {ID: "XX-99"}})
			j.Take(&told.events[0])
			p := j.Progress()
			if p[0].ID != "XX-01" || p[0].Verdict != tc.want || (p[0].Violations > 0) != (tc.want == Fail) || p[1].Verdict != Skipped {
				t.Errorf("%+v", p)
			}
		})
	}
}
