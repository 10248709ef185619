package election

import (
	"slices"
	"testing"
	"time"

	"k8s.io/utils/ptr"
)

// KEP-4355, Story 3: an administrator switches the leader to the new version at once by the
// strategy of the Lease.
func TestDecide_AChosenStrategyPreemptsTheLeaderAtOnce(t *testing.T) {
	leader, newer := candidate("leader", "1.2.0"), candidate("newer", "1.3.0")
	held := lease("leader", 15)
	all := []*Candidate{leader, newer}
	if d := Decide(View{Lease: held, Since: noon, Candidates: all}, Round{}, noon); d.Write != nil || len(d.Ping) > 0 {
		t.Fatalf("before the choice: %+v", d)
	}
	held.Spec.Strategy = ptr.To(Newest)
	if d := Decide(View{Lease: held, Since: noon, Candidates: all}, Round{}, noon); !slices.Equal(names(d.Ping), []string{"newer"}) {
		t.Fatalf("the newer candidate is not asked: %+v", d)
	}
	round := asked(newer)
	answers(newer)
	d := Decide(View{Lease: held, Since: noon, Candidates: all}, round, noon.Add(time.Second))
	if d.Write == nil || d.Write.Preferred != "newer" || d.Write.On != held {
		t.Fatalf("%+v", d)
	}
	told := Apply(*d.Write, author, noon)
	if *told.Spec.Strategy != Newest || told.Annotations[Resolved] != string(Oldest) {
		t.Errorf("the coordinator touched the choice: %+v", told)
	}
	free := Released(told, noon)
	round = asked(all...)
	answers(all...)
	d = Decide(View{Lease: free, Since: noon, Candidates: all}, round, noon.Add(time.Second))
	if d.Write == nil || d.Write.Holder != "newer" {
		t.Fatalf("%+v", d)
	}
	elected := Apply(*d.Write, author, noon)
	if *elected.Spec.Strategy != Newest || Chosen(elected) != Newest {
		t.Errorf("the choice did not last: %+v", elected)
	}
	elected.Spec.Strategy = ptr.To(Oldest) // the operator takes it back
	if d := Decide(View{Lease: elected, Since: noon, Candidates: all}, Round{}, noon); !slices.Equal(names(d.Ping), []string{"leader"}) {
		t.Errorf("%+v", d)
	}
}

// KEP-4355, "Strategy": a Lease may exist without a holder, and a third party sets the strategy.
func TestDecide_LeavesALeaseAloneWhoseStrategyAThirdPartyHasSet(t *testing.T) {
	set := lease("", 15)
	set.Annotations, set.Spec.Strategy = nil, ptr.To(Strategy("example.com/draft"))
	view := View{Lease: set, Since: noon.Add(-time.Hour), Candidates: []*Candidate{candidate("a", "1.2.0")}}
	if d := Decide(view, Round{}, noon); d.Write != nil || len(d.Ping) > 0 {
		t.Errorf("%+v", d)
	}
	set.Spec.HolderIdentity = ptr.To("theirs")
	if d := Decide(view, Round{}, noon); d.Write != nil || len(d.Ping) > 0 {
		t.Errorf("with an expired holder: %+v", d)
	}
}

func TestDecide_WithNoCoordinationElectsAndMarksNone(t *testing.T) {
	a, b := candidate("a", "1.3.0"), candidate("b", "1.2.0")
	a.Spec.Strategy = NoCoordination
	all := []*Candidate{a, b}
	d := Decide(View{Candidates: all}, Round{}, noon)
	if d.Write == nil || d.Write.Holder != "" || d.Write.Strategy != NoCoordination {
		t.Fatalf("the Lease is not left to the instances: %+v", d)
	}
	free := Apply(*d.Write, author, noon)
	step := Next(Situation{Me: "a", Lease: free, Since: noon, Timing: usual, Standing: Standing{Place: 1}}, noon)
	if step.Move != Claim || step.On != free {
		t.Fatalf("the first instance does not claim it at once: %+v", step)
	}
	claimed := Claimed(free, "ns", "l", "a", NoCoordination, usual, noon)
	if d := Decide(View{Lease: claimed, Since: noon, Candidates: all}, Round{}, noon); d.Write != nil || len(d.Ping) > 0 {
		t.Errorf("its holder is not left alone: %+v", d)
	}
}

// KEP-4355, "Migrations": only a Lease that a coordinator has claimed is marked.
func TestDecide_DoesNotPreemptAFallbackClaim(t *testing.T) {
	claims, better := candidate("claims", "1.3.0"), candidate("better", "1.2.0")
	for _, before := range []string{"none", "elected"} {
		on := lease("gone", 15)
		if before == "none" {
			on = nil
		}
		claimed := Claimed(on, "ns", "l", "claims", Oldest, usual, noon)
		view := View{Lease: claimed, Since: noon, Candidates: []*Candidate{claims, better}}
		if d := Decide(view, Round{}, noon); d.Write != nil || len(d.Ping) > 0 {
			t.Errorf("%s before: %+v", before, d)
		}
		view.Since = noon.Add(-time.Minute)
		if d := Decide(view, Round{}, noon); len(d.Ping) != 2 {
			t.Errorf("%s before: once it has expired the coordinator elects: %+v", before, d)
		}
		claimed.Spec.Strategy = ptr.To(Newest)
		view.Since, view.Candidates = noon, []*Candidate{claims, candidate("newest", "1.4.0")}
		if d := Decide(view, Round{}, noon); len(d.Ping) != 1 {
			t.Errorf("%s before: an operator's choice does not count: %+v", before, d)
		}
	}
}

func TestNext_LeavesTheLeaseOfAThirdPartyToIt(t *testing.T) {
	free := lease("", 1)
	free.Spec.Strategy = ptr.To(Strategy("example.com/draft"))
	s := Situation{Me: "me", Lease: free, Since: noon.Add(-time.Hour), Timing: usual}
	if step := Next(s, noon); step.Move != Wait {
		t.Errorf("the fallback takes it: %+v", step)
	}
	s.Lease, s.Wants = nil, "example.com/draft"
	if step := Next(s, noon); step.Move != Wait {
		t.Errorf("the fallback makes it: %+v", step)
	}
}

// Stories 1 and 2: a component updates its candidate with new version information.
func TestDue_ACandidateOfAnEarlierReleaseIsWrittenAtOnce(t *testing.T) {
	old := candidate("a", "1.2.0")
	old.Spec.LeaseName = "l"
	wanted := old.Spec
	if due := Due(old, wanted, noon); due != CandidateRenewal-time.Minute {
		t.Errorf("an up-to-date candidate is due in %s", due)
	}
	wanted.BinaryVersion = "1.3.0"
	if due := Due(old, wanted, noon); due != 0 {
		t.Errorf("after an upgrade it is due in %s", due)
	}
	if next := Declared(old, wanted); next.Spec.BinaryVersion != "1.3.0" || next.Spec.EmulationVersion != "1.2.0" || next.Spec.LeaseName != "l" {
		t.Errorf("%+v", next.Spec)
	}
	wanted = old.Spec
	wanted.Strategy = Newest
	if due := Due(old, wanted, noon); due != 0 {
		t.Errorf("with another strategy it is due in %s", due)
	}
}

func TestDue_WithoutACandidateIsNow(t *testing.T) {
	if due := Due(nil, candidate("a", "1.2.0").Spec, noon); due != 0 {
		t.Errorf("a first candidate is due in %s", due)
	}
}

func TestPlace_OfAnInstanceThatIsNotInTheListIsTheLast(t *testing.T) {
	all := []*Candidate{candidate("a", "1.2.0"), candidate("b", "1.3.0")}
	oldest, newest := orders[Oldest], orders[Newest]
	if got := oldest.Place(all, "unknown"); got != 2 {
		t.Errorf("it comes %d.", got)
	}
	if got := oldest.Place(all, "b"); got != 1 {
		t.Errorf("b comes %d.", got)
	}
	if got := newest.Place(all, "b"); got != 0 {
		t.Errorf("by the newest version b comes %d.", got)
	}
}

func TestNewest_PutsTheHighestVersionFirstAndWhatIsNoneLast(t *testing.T) {
	all := []*Candidate{candidate("none", "nonsense"), candidate("old", "1.2.0"), candidate("new", "1.10.0")}
	order := orders[Newest]
	var got []string
	for len(all) > 0 {
		best := order.Best(all)
		got = append(got, best.Name)
		all = slices.DeleteFunc(all, func(c *Candidate) bool { return c == best })
	}
	if want := []string{"new", "old", "none"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
