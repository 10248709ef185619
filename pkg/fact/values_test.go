package fact_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func stamp(revision int64) fact.Stamp {
	return fact.Stamp{Seq: revision, At: revision * s, Revision: revision}
}

func TestValues_AtIsWhatWasThereAtARevision(t *testing.T) {
	var v fact.Values[string]
	v.Delete(stamp(1)) // of what is not there
	v.Set(stamp(2), "a")
	v.Set(stamp(4), "b")
	v.Delete(stamp(6))
	v.Set(stamp(8), "c")
	for revision, want := range map[int64]string{1: "", 2: "a", 3: "a", 5: "b", 6: "", 7: "", 9: "c"} {
		got := ""
		if at := v.At(revision); at != nil {
			got = at.Is
		}
		if got != want {
			t.Errorf("at revision %d it is %q, want %q", revision, got, want)
		}
	}
	if made := v.At(5).Made; made != 2 {
		t.Errorf("at revision 5 it was made at %d, want 2", made)
	}
	if made := v.Last().Made; made != 8 {
		t.Errorf("what was made anew was made at %d, want 8", made)
	}
	if in := v.In(2, 6); len(in) != 2 || in[0].Is != "b" || in[1].There {
		t.Errorf("the changes after 2 up to 6 are %+v", in)
	}
	h := observed(stored(20*s, 9))
	if held := v.While(h, func(is string) bool { return is == "b" }); held.At(4*s+s/2) != fact.Yes || held.At(7*s) != fact.No {
		t.Error("it does not hold from the change to the deletion")
	}
}

func write(at, from int64, verb string, code int, revision int64) history.Event {
	return history.Event{From: from, At: at, Member: "a", Request: &history.Request{Verb: verb, Group: "g", Resource: "rs/status", Name: "n", Code: code, ResourceVersion: revision}}
}

func TestByHarness_IsUnknownWhereARequestMayHaveComeThrough(t *testing.T) {
	h := observed(write(4*s, 3*s, "update", 200, 5), write(10*s, 8*s, "update", 0, 0), write(20*s, 19*s, "delete", 200, 0), write(30*s, 29*s, "update", 409, 0))
	for name, tc := range map[string]struct {
		change  fact.Stamp
		deleted bool
		want    fact.Truth
	}{
		"the revision of an answer":             {fact.Stamp{At: 4 * s, Revision: 5}, false, fact.Yes},
		"before any request":                    {fact.Stamp{At: 1 * s}, false, fact.No},
		"another revision before the lost one":  {fact.Stamp{At: 6 * s, From: 6 * s}, false, fact.No},
		"while a request is without an answer":  {fact.Stamp{At: 9 * s}, false, fact.Unknown},
		"a deletion during a request to delete": {fact.Stamp{At: 20 * s}, true, fact.Yes},
		"a deletion at another time":            {fact.Stamp{At: 15 * s}, true, fact.No},
	} {
		if got := h.ByHarness("g", "rs", "n", tc.change, tc.deleted); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestAbility_ManagersWorkWhileTheyLeadAndNothingIsInTheWay(t *testing.T) {
	lease := func(at, revision int64, holder string) history.Event {
		return history.Event{At: at, Stored: &history.Stored{Type: history.StoredPut, Key: fact.IdentityLeasePrefix + "kube-controller-manager", Revision: revision, Lease: &history.Lease{Holder: holder}}}
	}
	h := fact.NewHistory(history.Header{Started: began, Members: []history.MemberHeader{{Name: "a"}}})
	events := []history.Event{
		server(1*s, history.ProcessStarted, 1), readyz(2*s, 200),
		{At: 3 * s, Member: "a", Process: &history.Process{Component: history.ComponentControllerManager, Change: history.ProcessStarted, Instance: 1}},
		lease(5*s, 4, "a_1"), lease(20*s, 6, "b_1"), lease(30*s, 7, "a_1"),
		{At: 36 * s, Member: "a", Process: &history.Process{Component: history.ComponentControllerManager, Change: history.ProcessStopping, Instance: 1}},
		{At: 40 * s, Member: "a", Fault: &history.Fault{ID: "f", Phase: history.PhaseInject, Type: history.FaultPower}},
	}
	for i := range events {
		events[i].Seq = int64(i + 1)
		h.Observe(&events[i])
	}
	able := h.ManagerAble()
	for at, want := range map[int64]fact.Truth{4: fact.No, 10: fact.Yes, 25: fact.No, 35: fact.Yes, 38: fact.No, 45: fact.No} {
		if got := able.At(at*s - s/2); got != want {
			t.Errorf("before second %d it is able: %s, want %s", at, got, want)
		}
	}
	if warm := able.Warm(5 * s); warm.At(8*s) != fact.Unknown || warm.At(12*s) != fact.Yes {
		t.Error("what has just begun is not unknown, or does not become sure")
	}
	if stopped := h.Stopped("a", history.ComponentAPIServer); stopped.At(10*s) != fact.No {
		t.Error("a process that runs is stopped")
	}
}

func TestAtLeast_HoldsWhileSoManyDo(t *testing.T) {
	a, b := fact.From(fact.Exactly(5, 0)), fact.From(fact.Exactly(10, 0))
	if two := fact.AtLeast(2, a, b, fact.Constant(fact.No)); two.At(7) != fact.No || two.At(11) != fact.Yes {
		t.Error("two of three hold before they do, or do not when they do")
	}
	if three := fact.AtLeast(3, a, b); three.At(20) != fact.No || fact.AtLeast(0).At(0) != fact.Yes {
		t.Error("more than there are hold, or none is not enough for none")
	}
}

func TestAtLeast_CountsSignals(t *testing.T) {
	yes, no, unknown := fact.Constant(fact.Yes), fact.Constant(fact.No), fact.Constant(fact.Unknown)
	for _, c := range []struct {
		n       int
		signals []fact.Signal
		want    fact.Truth
	}{
		{0, nil, fact.Yes}, {1, nil, fact.No},
		{3, []fact.Signal{yes, no, yes, no, yes}, fact.Yes},
		{3, []fact.Signal{yes, no, yes, no, no}, fact.No},
		{3, []fact.Signal{yes, no, yes, no, unknown}, fact.Unknown},
	} {
		if got := fact.AtLeast(c.n, c.signals...).At(0); got != c.want {
			t.Errorf("%d of %v: %v, want %v", c.n, c.signals, got, c.want)
		}
	}
}
