package conformance

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
)

func TestFisher_HasKnownValues(t *testing.T) {
	for _, c := range []struct {
		brokenA, runsA, brokenB, runsB int
		want                           float64
	}{
		// The lady tasting tea: 3 of 4 and 1 of 4, and 4 of 4 and 0 of 4.
		{3, 4, 1, 4, 0.485714},
		{4, 4, 0, 4, 0.028571},
		// Convictions of like-sex twins (Fisher 1935): 10 of 13 and 2 of 17.
		{10, 13, 2, 17, 0.000537},
		{0, 29, 0, 29, 1},
		{0, 29, 29, 29, 0},
		{1, 1, 0, 1, 1},
	} {
		if got := Fisher(c.brokenA, c.runsA, c.brokenB, c.runsB); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%+v: %.6f", c, got)
		}
	}
}

func TestFisher_IsSymmetricAndAProbability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runsA, runsB := rapid.IntRange(1, 60).Draw(t, "runsA"), rapid.IntRange(1, 60).Draw(t, "runsB")
		a, b := rapid.IntRange(0, runsA).Draw(t, "a"), rapid.IntRange(0, runsB).Draw(t, "b")
		p := Fisher(a, runsA, b, runsB)
		if p <= 0 || p > 1 {
			t.Errorf("p = %v", p)
		}
		for _, other := range []float64{Fisher(b, runsB, a, runsA), Fisher(runsA-a, runsA, runsB-b, runsB)} {
			if math.Abs(p-other) > 1e-9 {
				t.Errorf("%v, and turned round %v", p, other)
			}
		}
	})
}

func TestDiff_TellsWhatChanged(t *testing.T) {
	plan := planned(t, func(r *Request) { r.Scenarios, r.Repeat, r.Tries = []string{"restart-skew"}, 6, 1 })
	red := map[string]string{}
	kept, _ := playCampaign(t, plan, fakerun.Script{}, Options{})
	if d := Diff(kept, kept); len(d.Lines)+len(d.Worse) > 0 {
		t.Errorf("the same differs: %+v", d)
	}
	red["restart-skew/1"] = fakerun.Fail
	once, _ := playCampaign(t, plan, fakerun.Script{Runs: red}, Options{})
	d := Diff(kept, once)
	if len(d.Worse) != 1 || !contains(d.Lines, "SV-06: pass → fail") || !contains(d.Lines, "broken in 0 of 6 runs → 1 of 6: too few runs to tell") {
		t.Errorf("%+v", d)
	}
	for _, seed := range []string{"2", "3", "4", "5", "6"} {
		red["restart-skew/"+seed] = fakerun.Fail
	}
	always, _ := playCampaign(t, plan, fakerun.Script{Runs: red}, Options{})
	if d := Diff(kept, always); !contains(d.Lines, "broken in 0 of 6 runs → 6 of 6: they differ (Fisher's exact test, p = 0.0022)") {
		t.Errorf("%+v", d)
	}
	if d := Diff(always, kept); len(d.Worse) != 0 || !contains(d.Lines, "SV-06: fail → pass") {
		t.Errorf("%+v", d)
	}
	kept.Requirements = nil
	if d := Diff(once, kept); !contains(d.Lines, "SV-06: fail → skipped") || len(d.Worse) != 0 || strings.Contains(strings.Join(d.Lines, ""), "Fisher") {
		t.Errorf("%+v", d)
	}
}
