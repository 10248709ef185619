package election_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

const (
	// justInside and justOutside are how far from a bound the recorders' uncertainty decides
	// nothing any more, and between a distance at which it does.
	justInside  = -1500 * time.Millisecond
	between     = 400 * time.Millisecond
	betweenEnds = 100 * time.Millisecond // the end of a process is told more exactly
	justOutside = 2 * time.Second
)

// bracket is a history in which what a bound is about takes a given time.
type bracket struct {
	id requirement.ID
	// bound is its name in the catalog; of is the row that has it, the requirement's own
	// where it is empty.
	bound string
	of    requirement.ID
	build func(took time.Duration) *electionBuilder
	// atLeast is whether the bound is the least time that it has to take.
	atLeast bool
	// exact is whether both times stand in one object, so that a nanosecond decides.
	exact bool
	// less is a tolerance that is taken off the bound.
	less string
}

func brackets() []bracket {
	const s = time.Second
	led := func() *electionBuilder {
		return controlPlane("1.2.0", "1.2.0").elect(managersLease, "a_1").wait(s)
	}
	free := history.Lease{Strategy: oldestStrategy, Coordinator: "a_c", Duration: 1}
	outranked := func(took time.Duration) *electionBuilder {
		b := controlPlane("1.3.0").storeLease(managersLease, history.Lease{Holder: "a_1", Strategy: oldestStrategy, Coordinator: "a_c", Duration: 3600})
		b.manager("b", history.ProcessStarted, "").declare("b_1", managersLease, "1.2.0")
		return b.wait(requirement.MustBound("KEP-4355", "knownAfter")+took).mark(managersLease, "a_1", "b_1").storeLease(managersLease, free).elect(managersLease, "b_1")
	}
	return []bracket{
		{id: "CLE-01", bound: "declaresWithin", build: func(took time.Duration) *electionBuilder {
			return controlPlane("1.2.0", "1.2.0").manager("c", history.ProcessStarted, "").wait(took).declare("c_1", managersLease, "1.2.0")
		}},
		{id: "CLE-01", bound: "declaresAgainWithin", build: func(took time.Duration) *electionBuilder {
			return controlPlane("1.2.0", "1.2.0").wait(s).deleteCandidate("a_1").wait(took).declare("a_1", managersLease, "1.2.0")
		}},
		{id: "CLE-02", bound: "renewsEvery", less: "renewsEarly", atLeast: true, exact: true, build: func(took time.Duration) *electionBuilder {
			b := newElection().manager("a", history.ProcessStarted, "").wait(s)
			at := b.wall()
			return b.declare("a_1", managersLease, "1.2.0").wait(took).storeCandidate("a_1", managersLease, "1.2.0", time.Time{}, at.Add(took))
		}},
		{id: "CLE-02", bound: "renewsWithin", build: func(took time.Duration) *electionBuilder {
			return controlPlane().manager("a", history.ProcessStarted, "").declare("a_1", managersLease, "1.2.0").wait(took).declare("a_1", managersLease, "1.2.0")
		}},
		{id: "CLE-03", bound: "answersWithin", exact: true, build: func(took time.Duration) *electionBuilder {
			b := controlPlane("1.2.0", "1.2.0")
			at := b.wall()
			return b.ping("a_1", managersLease, "1.2.0", 0).wait(took).storeCandidate("a_1", managersLease, "1.2.0", at, at.Add(took))
		}},
		{id: "CLE-04", bound: "electsWithin", build: func(took time.Duration) *electionBuilder {
			return led().deleteLeaseByHarness(managersLease).wait(took).elect(managersLease, "a_1")
		}},
		{id: "CLE-04", bound: "knownAfter", of: "KEP-4355", build: func(took time.Duration) *electionBuilder {
			return controlPlane().declare("evenkeel-rowers-a", probeLease, "1.2.0").wait(requirement.MustBound("CLE-04", "electsWithin")+took).elect(probeLease, "evenkeel-rowers-a")
		}},
		{id: "CLE-04", bound: "electionWaits", of: "KEP-4355", atLeast: true, build: func(took time.Duration) *electionBuilder {
			b := led().ping("a_1", managersLease, "1.2.0", s).deleteCandidate("b_1").deleteLeaseByHarness(managersLease)
			b.wait(took).declare("a_1", managersLease, "1.2.0")
			return b.wait(requirement.MustBound("CLE-04", "electsWithin")-2100*time.Millisecond).elect(managersLease, "a_1").toldAtOnce(managersLease)
		}},
		{id: "CLE-06", bound: "certainlyAnswered", of: "KEP-4355", exact: true, atLeast: true, build: func(took time.Duration) *electionBuilder {
			b := controlPlane("1.2.0", "1.1.0")
			at := b.wall()
			b.ping("b_1", managersLease, "1.1.0", 0).wait(took).storeCandidate("b_1", managersLease, "1.1.0", at, at.Add(took))
			return b.declare("a_1", managersLease, "1.2.0").elect(managersLease, "a_1")
		}},
		{id: "CLE-05", bound: "answeredWithin", of: "KEP-4355", exact: true, build: func(took time.Duration) *electionBuilder {
			b := newElection()
			at := b.wall()
			b.declare("evenkeel-rowers-a", probeLease, "1.2.0").wait(took)
			return b.storeLease(probeLease, history.Lease{Holder: "evenkeel-rowers-a", Strategy: oldestStrategy, Coordinator: "a_c", Renewed: at.Add(took)})
		}},
		{id: "CLE-08", bound: "replacesWithin", build: outranked},
		{id: "CLE-09", bound: "clocksApart", of: "KEP-4355", exact: true, build: func(early time.Duration) *electionBuilder {
			b := led()
			at := b.wall()
			return b.renew(managersLease, "a_1").wait(15*s-early).storeLease(managersLease, history.Lease{Holder: "b_1", Strategy: oldestStrategy, Coordinator: "a_c", Renewed: at.Add(15*s - early)})
		}},
		{id: "CLE-10", bound: "noticesWithin", of: "KEP-4355", build: func(took time.Duration) *electionBuilder {
			return led().act(managersLease, "a_1").deleteLeaseByHarness(managersLease).elect(managersLease, "b_1").act(managersLease, "b_1").wait(took).act(managersLease, "a_1")
		}},
		{id: "CLE-11", bound: "replacesWithin", build: func(took time.Duration) *electionBuilder {
			return led().manager("a", history.ProcessExited, killed).wait(took).elect(managersLease, "b_1")
		}},
		{id: "CLE-12", bound: "declaresWithin", build: func(took time.Duration) *electionBuilder {
			return led().act(managersLease, "a_1").wait(16*s).deleteCandidate("a_1").elect(managersLease, "b_1").wait(took).declare("a_1", managersLease, "1.2.0")
		}},
		{id: "CLE-12", bound: "inFlight", build: func(took time.Duration) *electionBuilder {
			b := led().act(managersLease, "a_1").fault(history.FaultHTTP, history.FaultHTTPDelay, managersLease, history.PhaseInject, history.PhaseWitness)
			return b.wait(16*s).elect(managersLease, "b_1").wait(took).act(managersLease, "a_1")
		}},
		{id: "CLE-12", bound: "noticesWithin", of: "KEP-4355", build: func(took time.Duration) *electionBuilder {
			return led().act(managersLease, "a_1").storeLease(managersLease, history.Lease{Holder: history.AbsentHolder}).wait(took).act(managersLease, "a_1")
		}},
		{id: "CLE-13", bound: "coordinatesWithin", build: func(took time.Duration) *electionBuilder {
			return controlPlane("1.2.0").endServer("a", 1).wait(took).storeLease(coordinatorsLease, history.Lease{Holder: "b_c"})
		}},
		{id: "CLE-14", bound: "noticesWithin", of: "KEP-4355", atLeast: true, build: func(took time.Duration) *electionBuilder {
			return controlPlane("1.2.0").wait(s).storeLease(coordinatorsLease, history.Lease{Holder: history.AbsentHolder}).wait(took).endServer("a", 1)
		}},
		{id: "CLE-15", bound: "quietAfter", build: func(took time.Duration) *electionBuilder {
			return led().manager("c", history.ProcessStarted, "").wait(took).ping("b_1", managersLease, "1.2.0", 0)
		}},
		{id: "CLE-15", bound: "settlesWithin", build: func(took time.Duration) *electionBuilder {
			b := controlPlane("1.2.0", "1.2.0").storeLease(managersLease, history.Lease{Holder: "a_1", Strategy: oldestStrategy, Coordinator: "a_c", Duration: 3600})
			b.step("upgrade")
			for _, part := range []time.Duration{took / 3, took / 3} {
				b.wait(part).mark(managersLease, "a_1", "b_1").renew(managersLease, "a_1")
			}
			return b.wait(took-2*(took/3)).mark(managersLease, "a_1", "b_1")
		}},
		{id: "CLE-16", bound: "deadCandidateGoes", build: func(took time.Duration) *electionBuilder {
			return controlPlane().declare("evenkeel-rowers-a", probeLease, "1.2.0").wait(took).deleteCandidate("evenkeel-rowers-a")
		}},
		{id: "CLE-16", bound: "candidateValidity", of: "KEP-4355", exact: true, build: func(took time.Duration) *electionBuilder {
			b := newElection()
			at := b.wall()
			b.declare("evenkeel-rowers-a", probeLease, "1.2.0").wait(took)
			return b.storeLease(probeLease, history.Lease{Holder: "evenkeel-rowers-a", Strategy: oldestStrategy, Coordinator: "a_c", Renewed: at.Add(took)})
		}},
		{id: "CLE-17", bound: "replacesWithin", build: outranked},
		{id: "CLE-17", bound: "flapsWithin", atLeast: true, build: func(took time.Duration) *electionBuilder {
			return led().wait(60*s).elect(managersLease, "b_1").wait(took-time.Millisecond).elect(managersLease, "a_1")
		}},
		{id: "CLE-17", bound: "causeWithin", build: func(took time.Duration) *electionBuilder {
			b := led().renewFor(managersLease, "a_1", 60*s).elect(managersLease, "b_1").renewFor(managersLease, "b_1", 30*s)
			return b.step("upgrade").wait(took).elect(managersLease, "a_1")
		}},
		{id: "CLE-20", bound: "claimsWithin", build: func(took time.Duration) *electionBuilder {
			b := controlPlane("1.2.0").storeLease(managersLease, history.Lease{Strategy: oldestStrategy}).storeLease(coordinatorsLease, history.Lease{Holder: "a_c", Duration: 1})
			b.fault(history.FaultKeys, history.FaultKeysFail, coordinatorsLease, history.PhaseInject, history.PhaseWitness)
			return b.wait(s+took).storeLease(managersLease, history.Lease{Holder: "a_1", Strategy: oldestStrategy})
		}},
		{id: "CLE-22", bound: "electsWithin", build: func(took time.Duration) *electionBuilder {
			b := controlPlane().declareWith("evenkeel-rowers-a", oldestStrategy).wait(requirement.MustBound("KEP-4355", "knownAfter")).declareWith("evenkeel-rowers-b", thirdPartyStrategy)
			return b.wait(took).elect(probeLease, "evenkeel-rowers-a")
		}},
		{id: "CLE-23", bound: "crashesWithin", atLeast: true, build: func(took time.Duration) *electionBuilder {
			return controlPlane("1.2.0").storeOdd(probeLease).wait(took).endServer("b", 1)
		}},
		{id: "CLE-24", bound: "recoversWithin", build: func(took time.Duration) *electionBuilder {
			b := led().fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseInject, history.PhaseWitness).wait(20 * s)
			return b.fault(history.FaultAdmission, history.FaultAdmissionDeny, managersLease, history.PhaseHeal).wait(took).elect(managersLease, "b_1")
		}},
		{id: "CLE-25", bound: "convergesWithin", build: func(took time.Duration) *electionBuilder {
			b := controlPlane("1.2.0").wait(s).endServer("b", 1).server("b", history.ProcessStarted, 2, history.FeatureCoordination).claim(managersLease, "a_1").wait(s)
			return b.endServer("b", 2).wait(s).startServer("b", 3).ready("b", 200).wait(took).elect(managersLease, "a_1")
		}},
		{id: "CLE-27", bound: "followsWithin", build: func(took time.Duration) *electionBuilder {
			b := controlPlane("1.2.0", "1.3.0").storeLease(managersLease, history.Lease{Holder: "a_1", Strategy: oldestStrategy, Coordinator: "a_c", Duration: 3600})
			b.wait(requirement.MustBound("KEP-4355", "knownAfter")+s).choose(managersLease, history.Lease{Holder: "a_1", Strategy: newestStrategy, Coordinator: "a_c", Duration: 3600})
			return b.wait(took).storeLease(managersLease, history.Lease{Holder: "b_1", Strategy: newestStrategy, Coordinator: "a_c", Duration: 10})
		}},
		{id: "CLE-31", bound: "replacesWithin", build: func(took time.Duration) *electionBuilder {
			b := controlPlane("1.2.0", "1.3.0").storeLease(managersLease, history.Lease{Holder: "a_1", Strategy: oldestStrategy, Coordinator: "a_c", Duration: 3600})
			b.wait(requirement.MustBound("KEP-4355", "knownAfter")+s).declare("b_1", managersLease, "1.1.0")
			return b.wait(took).storeLease(managersLease, free).elect(managersLease, "b_1")
		}},
		{id: "CLE-26", bound: "acquiredApart", exact: true, build: func(apart time.Duration) *electionBuilder {
			b := newElection().declare("evenkeel-rowers-a", probeLease, "1.2.0").wait(s)
			at := b.wall()
			return b.storeLease(probeLease, history.Lease{Holder: "evenkeel-rowers-a", Strategy: oldestStrategy, Coordinator: "a_c", Acquired: at.Add(-apart), Renewed: at})
		}},
	}
}

// toldAtOnce has the recorder of etcd tell of all changes of a Lease without a delay.
func (b *electionBuilder) toldAtOnce(key string) *electionBuilder {
	for i, ev := range b.events {
		if ev.Stored != nil && ev.Stored.Key == leasePrefix+key {
			b.events[i].From = ev.At
		}
	}
	return b
}

// choose has the harness, as an operator, write a Lease with another strategy.
func (b *electionBuilder) choose(key string, l history.Lease) *electionBuilder {
	b.storeLease(key, l)
	return b.add(history.Event{Kind: history.KindRequest, Member: "a", From: b.now - int64(2*time.Millisecond), Request: &history.Request{
		Class: history.ClassElection, Election: history.ElectionChoose, Verb: "update", Resource: "leases", Name: key, Code: 200, ResourceVersion: int64(len(b.events)),
	}})
}

// step begins a step of the scenario.
func (b *electionBuilder) step(action string) *electionBuilder {
	return b.add(history.Event{Kind: history.KindStep, Step: &history.Step{Action: action, Phase: history.PhaseBegin}})
}

// storeOdd has the harness store a Lease with odd content.
func (b *electionBuilder) storeOdd(key string) *electionBuilder {
	b.storeLease(key, history.Lease{Holder: "odd", Strategy: oldestStrategy, Coordinator: "a_c"})
	return b.add(history.Event{Kind: history.KindRequest, Member: "a", From: b.now - int64(2*time.Millisecond), Request: &history.Request{
		Class: history.ClassElection, Election: history.ElectionMalformed, Verb: "update", Resource: "leases", Name: key, Code: 200, ResourceVersion: int64(len(b.events)),
	}})
}

func TestBrackets_ABoundHoldsJustInsideAndBreaksJustOutside(t *testing.T) {
	for _, br := range brackets() {
		t.Run(string(br.id)+"/"+br.bound, func(t *testing.T) {
			of := br.id
			if br.of != "" {
				of = br.of
			}
			bound := requirement.MustBound(of, br.bound)
			if br.less != "" {
				bound -= requirement.MustBound(of, br.less)
			}
			inside, outside, doubtful := justInside, justOutside, between
			if br.exact {
				inside, outside = 0, 1
			}
			if br.atLeast {
				inside, outside, doubtful = -inside+between, -outside, betweenEnds
			}
			if br.atLeast && br.exact {
				inside, outside = 0, -1
			}
			if r := br.build(bound+inside).judge(t, br.id); r.ViolationCount > 0 || r.Obligations.Unclear > 0 || !br.exact && r.Obligations.Open > 0 {
				t.Errorf("just inside of %s: %v %q %+v", bound, r.Violations, r.Reasons, r.Obligations)
			}
			if r := br.build(bound+outside).judge(t, br.id); r.Verdict != check.Fail {
				t.Errorf("just outside of %s: %s %q %+v", bound, r.Verdict, r.Reasons, r.Obligations)
			}
			if br.exact {
				return
			}
			if r := br.build(bound+doubtful).judge(t, br.id); r.ViolationCount > 0 || r.Obligations.Unclear == 0 {
				t.Errorf("where the recorder's uncertainty decides about %s: %s %v %q %+v", bound, r.Verdict, r.Violations, r.Reasons, r.Obligations)
			}
		})
	}
}

// counted are the bounds by which obligations are counted and none is broken.
var counted = []string{"CLE-21/leftAlone", "CLE-23/survives", "CLE-30/leftAlone", "CLE-32/leftAlone"}

func TestBrackets_EveryBoundHasOne(t *testing.T) {
	for _, r := range requirement.All() {
		if !strings.HasPrefix(string(r.ID), "CLE-") {
			continue
		}
		for _, b := range r.Bounds {
			name := string(r.ID) + "/" + b.Name
			if !slices.Contains(counted, name) && !slices.ContainsFunc(brackets(), func(br bracket) bool { return br.of == "" && string(br.id)+"/"+br.bound == name }) {
				t.Errorf("%s has no bracket", name)
			}
		}
	}
}

func TestBrackets_WhatIsCountedIsCountedOnlyAfterTheBound(t *testing.T) {
	given := func(took time.Duration) *electionBuilder {
		b := controlPlane().declareWith("evenkeel-rowers-a", thirdPartyStrategy).storeLease(probeLease, history.Lease{Strategy: thirdPartyStrategy, Coordinator: "a_c"})
		return b.wait(time.Second).storeLease(probeLease, history.Lease{Holder: history.ThirdPartyHolder, Duration: 3600, Strategy: thirdPartyStrategy}).wait(took).ready("a", 200)
	}
	leftAlone := requirement.MustBound("CLE-21", "leftAlone")
	for took, kept := range map[time.Duration]int64{leftAlone + justInside: 0, leftAlone + justOutside: 1} {
		expectCount(t, given(took).judge(t, "CLE-21"), "that stayed", kept)
	}
	claimed := func(took time.Duration) *electionBuilder {
		b := controlPlane().declareWith("evenkeel-rowers-a", notCoordinated).storeLease(probeLease, history.Lease{Strategy: notCoordinated, Coordinator: "a_c"})
		return b.wait(time.Second).storeLease(probeLease, history.Lease{Holder: "evenkeel-rowers-a", Duration: 3600, Strategy: notCoordinated}).wait(took).ready("a", 200)
	}
	for took, kept := range map[time.Duration]int64{leftAlone + justInside: 0, leftAlone + justOutside: 1} {
		expectCount(t, claimed(took).judge(t, "CLE-30"), "and kept it", kept)
	}
	kept := func(took time.Duration) *electionBuilder {
		b := controlPlane("1.3.0").coordinate(time.Hour).wait(time.Second).storeLease(managersLease, history.Lease{Holder: "a_1", Duration: 3600, Strategy: oldestStrategy})
		b.manager("b", history.ProcessStarted, "").declare("b_1", managersLease, "1.2.0")
		return b.wait(requirement.MustBound("KEP-4355", "knownAfter")+took).ready("a", 200)
	}
	for took, left := range map[time.Duration]int64{leftAlone + justInside: 0, leftAlone + justOutside: 1} {
		expectCount(t, kept(took).judge(t, "CLE-32"), "beside a better candidate", left)
	}
	survives := requirement.MustBound("CLE-23", "survives")
	for took, lived := range map[time.Duration]int64{survives + justInside: 0, survives + justOutside: 1} {
		expectCount(t, controlPlane("1.2.0").storeOdd(probeLease).wait(took).ready("a", 200).judge(t, "CLE-23"), "that were ready", lived)
	}
}

// A ping and its answer carry their own times, between which the machine may have held the
// candidate up.
func TestAnswersWithin_StarvationExplainsNoMoreThanWasMeasured(t *testing.T) {
	const late = 3 * time.Second
	took := requirement.MustBound("CLE-03", "answersWithin") + late
	for waited, want := range map[time.Duration]check.Verdict{0: check.Fail, late - 1: check.Fail, late: check.Inconclusive} {
		b := controlPlane("1.2.0", "1.2.0")
		at := b.wall()
		b.ping("a_1", managersLease, "1.2.0", 0).wait(took)
		b.add(history.Event{Kind: history.KindStarvation, From: b.now - int64(took), Starvation: &history.Starvation{CPU: int64(waited)}})
		b.storeCandidate("a_1", managersLease, "1.2.0", at, at.Add(took))
		if got := b.judge(t, "CLE-03").Verdict; got != want {
			t.Errorf("starved for %s: %s, want %s", waited, got, want)
		}
	}
}
