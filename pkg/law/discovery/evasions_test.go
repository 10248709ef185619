package discovery_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// fails wants an edit of the story that passes a requirement to break it.
func fails(t *testing.T, id requirement.ID, edit func(*story.Edit)) {
	t.Helper()
	if r := edited(t, id, edit); r.Verdict != check.Fail {
		t.Errorf("%s is %s: %q", id, r.Verdict, r.Reasons)
	}
}

// removesTides has the harness take the APIService of tides away.
func (t *historyBuilder) removesTides() *historyBuilder {
	return t.add(history.Event{Kind: history.KindRequest, Member: "a", From: t.now, Request: &history.Request{
		Class: history.ClassGuarded, Verb: "delete", Resource: "apiservices", Code: 200, Defines: &history.Definition{Remote: true, Group: tides},
	}})
}

func (t *historyBuilder) etcd(change string, instance int) *historyBuilder {
	return t.add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{Component: history.ComponentEtcd, Change: change, Instance: instance, Expected: true}})
}

// What etcd tells of the removal of a definition that was created again is none of the removal
// before.
func TestAD13OwesWhatIsDefinedAgain(t *testing.T) {
	told := lone().serves("lamps", 201, "v1").pass(20 * time.Second)
	told.deletes(20, func(t *historyBuilder) { t.lamps(20, history.StoredPut).lamps(21, history.StoredDelete) }).pass(20 * time.Second)
	told.serves("lamps", 201, "v1").every(11*time.Second, func() { told.polled("a", steady) })
	told.deletes(40, func(*historyBuilder) {}).lamps(40, history.StoredPut).lamps(41, history.StoredDelete)
	told.blames(t, "AD-13", "a does not have lamps in lights.io/v1")
}

// A version that an earlier change wants and a later one does not take away must not go, whether
// or not the outcome of the later one is known.
func TestAD13OwesOnBesideAChangeWithoutAnAnswer(t *testing.T) {
	changed := func() *historyBuilder {
		return lone().serves("lamps", 201, "v1").pass(20*time.Second).polled("a", lights+"/v1:lamps").serves("lamps", 0, "v1", "v1beta1").pass(20 * time.Second)
	}
	changed().polled("a", lights+"/v1:lamps").blames(t, "AD-13")
	changed().polled("a", lights+"/v1:lamps", lights+"/v1beta1:lamps").blames(t, "AD-13")
	changed().polled("a").blames(t, "AD-13", "a does not have lamps in lights.io/v1")
}

// A request without an answer keeps looks from being quiet for as long as it may be carried out,
// and no longer.
func TestLooksAreQuietAgainAfterARequestWithoutAnAnswer(t *testing.T) {
	has := []string{"x.io/v1:ships", "y.io/v1:decks"}
	after := func(d time.Duration) *historyBuilder {
		return lone().serves("buoys", 0, "v1").pass(d).looksAt("a", said{union: has, own: has[:1]})
	}
	lands := requirement.MustBound("KEP-3352", "landsWithin")
	after(lands-time.Second).blames(t, "AD-25")
	after(lands+time.Second).blames(t, "AD-25", "a lists y.io/v1, but not in the list of groups")
}

func TestAD12LooksAtBothDocuments(t *testing.T) {
	fails(t, "AD-12", func(e *story.Edit) {
		e.RewriteListing(e.Event(2, func(ev *history.Event) bool {
			d := ev.DiscoveryDocument
			return d != nil && d.Path == corePath && d.Accept == askedJSON && d.IfNoneMatch == "" && d.Listing != nil
		}), func(l *history.Listing) { l.Groups[0].Versions[0].Order += ", otherwise" })
	})
}

// A process that has lost a group for good has lost it in its first document.
func TestAD15ComparesWithTheProcessBefore(t *testing.T) {
	all := []string{"x.io/v1:ships", "y.io/v1:decks"}
	restarted := func(first, later []string) *historyBuilder {
		return lone().pass(time.Minute).looksAt("a", said{union: all, own: all}).stops("a", 1).pass(time.Second).starts("a", 2).ready("a", 200, 6).polled("a", first...).
			pass(time.Minute).looksAt("a", said{union: later, own: later})
	}
	restarted(all, all).blames(t, "AD-15")
	restarted(all[:1], all[:1]).blames(t, "AD-15", "does not list y.io/v1, which a with the same release hosts")
	restarted(all[:1], all).blames(t, "AD-15", "does not list y.io/v1, which a with the same release hosts")
}

// A start that takes long because an etcd is stopped does not show how long starts take.
func TestAD16LearnsFromUndisturbedStarts(t *testing.T) {
	starts := func(costs time.Duration) *historyBuilder {
		told := lone().etcd(history.ProcessStarted, 1).hands(201).pass(time.Minute)
		told.stops("a", 1).etcd(history.ProcessExited, 1).starts("a", 2).pass(time.Minute).etcd(history.ProcessStarted, 2).pass(time.Second).ready("a", 200, 6).pass(time.Minute)
		return told.does(1, history.BackendHang, history.PhaseInject).stops("a", 2).starts("a", 3).does(1, history.BackendHang, history.PhaseWitness).
			pass(costs).ready("a", 200, 7)
	}
	within := requirement.MustBound("AD-16", "deadCosts")
	starts(within).blames(t, "AD-16")
	starts(within+2*time.Second).blames(t, "AD-16", "a was not ready while the server of "+tides+" was dead")
}

// A start that a dead server keeps from being ready does not have to be over while it is dead:
// another misbehavior may follow, or the end of the outage may be what makes it ready.
func TestAD16_AStartThatIsReadyOnlyAfterTheOutage(t *testing.T) {
	starts := func(blocked time.Duration, then func(*historyBuilder) *historyBuilder) *historyBuilder {
		told := lone().hands(201).pass(time.Minute).stops("a", 1).starts("a", 2).pass(time.Second).ready("a", 200, 6).pass(time.Minute)
		told.does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness).pass(time.Second).stops("a", 2).starts("a", 3)
		told.pass(blocked).ready("a", 500, 0)
		return then(told).pass(time.Second).ready("a", 200, 7)
	}
	heals := func(told *historyBuilder) *historyBuilder {
		return told.does(1, history.BackendHang, history.PhaseHeal)
	}
	refuses := func(told *historyBuilder) *historyBuilder {
		return heals(told).does(2, history.BackendRefuse, history.PhaseInject).pass(14*time.Second).ready("a", 500, 0).does(2, history.BackendRefuse, history.PhaseHeal)
	}
	const late = "a was not ready while the server of " + tides + " was dead"
	starts(10*time.Minute, heals).blames(t, "AD-16", late)
	starts(10*time.Second, heals).blames(t, "AD-16")
	starts(10*time.Second, refuses).blames(t, "AD-16", late)
	starts(time.Second, refuses).blames(t, "AD-16")
}

// What an APIService hands on that has its group for itself is listed, and goes with it.
func TestAPIServicesThatHaveAGroupForThemselves(t *testing.T) {
	flows := tides + "/v1:flows"
	has := []string{steady}
	lone().hands(201).pass(time.Minute).polled("a", flows).blames(t, "AD-19")
	lone().hands(201).pass(time.Minute).looksAt("a", said{union: has, own: has}).blames(t, "AD-25", "a does not list tides.io/v1, which an APIService hands on")
	lone().hands(201).pass(time.Minute).polled("a", flows).removesTides().pass(11*time.Second).polled("a", flows).blames(t, "AD-19", "a still lists tides.io/v1")
}

// A client caches what it has got, in whatever encoding.
func TestAD08LooksAtProtobuf(t *testing.T) {
	asked := func(matches bool) story.Match {
		return func(ev *history.Event) bool {
			d := ev.DiscoveryDocument
			return d != nil && d.Path == groupsPath && strings.HasPrefix(d.Accept, "application/vnd.kubernetes.protobuf") && d.IfNoneMatch != "" && (d.IfNoneMatch != `"0"`) == matches
		}
	}
	fails(t, "AD-08", func(e *story.Edit) {
		d := e.Document(2, asked(true))
		d.Code, d.Size = 200, 900
	})
	fails(t, "AD-08", func(e *story.Edit) { e.Document(2, asked(false)).Code = 304 })
	fails(t, "AD-08", func(e *story.Edit) { e.Document(2, asked(false)).Content = "another" })
}

func TestAD28BlamesForWhatAClientDoesNotLearn(t *testing.T) {
	fails(t, "AD-28", func(e *story.Edit) {
		c := e.Client(1, func(ev *history.Event) bool {
			return ev.DiscoveryDocument != nil && ev.DiscoveryDocument.Client != nil && !ev.DiscoveryDocument.Client.Legacy
		})
		c.Missing, c.Mapping = []string{"coordination.k8s.io/v1"}, "fewer"
	})
}

// A client that got every answer came to no end because of what these say.
func TestAD28BlamesForAnswersThatNoClientCanUse(t *testing.T) {
	for refused, want := range map[int]check.Verdict{0: check.Fail, 1: check.Pass} {
		r := edited(t, "AD-28", func(e *story.Edit) {
			d := e.Document(2, func(ev *history.Event) bool { return ev.DiscoveryDocument != nil && ev.DiscoveryDocument.Client != nil })
			d.Code, d.Error, d.Client = 0, "unexpected end of JSON input", &history.DiscoveryClient{Legacy: d.Client.Legacy, Requests: 2, Refused: refused}
		})
		if r.Verdict != want {
			t.Errorf("%d refused: %s: %q", refused, r.Verdict, r.Reasons)
		}
	}
}

func TestAD30WantsEachDurationMeasured(t *testing.T) {
	fails(t, "AD-30", func(e *story.Edit) {
		looks := map[string]int64{}
		e.Each(func(ev *history.Event) bool {
			return ev.DiscoveryDocument != nil && ev.DiscoveryDocument.Durations != nil
		}, func(ev *history.Event) {
			looks[ev.Member]++
			d, measured := *ev.DiscoveryDocument, looks[ev.Member]
			d.Durations, ev.DiscoveryDocument = &measured, &d
		})
	})
}

// While a fault holds what is written about definitions, what was defined may not be hosted.
func TestDefinitionsThatAFaultHoldsAreNotOwed(t *testing.T) {
	held := func(phases ...history.Phase) *historyBuilder {
		t := lone()
		for _, phase := range phases {
			t.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{
				ID: "keys", Type: history.FaultKeys, Action: history.FaultKeysHold, Phase: phase, Proof: "held 3",
				Prefixes: []string{"/registry/apiextensions.k8s.io/customresourcedefinitions/"},
			}})
		}
		t.serves("lamps", 201, "v1").every(11*time.Second, func() { t.polled("a", steady) })
		return t.looksAt("a", said{union: []string{steady}, own: []string{steady}})
	}
	lacks := "a does not have lamps in lights.io/v1"
	for _, id := range []requirement.ID{"AD-13", "AD-25"} {
		held(history.PhaseInject, history.PhaseWitness).blames(t, id)
		held(history.PhaseInject, history.PhaseWitness, history.PhaseHeal).blames(t, id, lacks)
	}
}

// No more than AD-13 AD-25 owes what was defined just before an etcd was stopped.
func TestAD25WaitsForEtcd(t *testing.T) {
	stopped := func(again time.Duration) *historyBuilder {
		t := lone().etcd(history.ProcessStarted, 1).serves("lamps", 201, "v1").pass(time.Second).etcd(history.ProcessExited, 1).pass(20*time.Second).etcd(history.ProcessStarted, 2)
		return t.pass(again).looksAt("a", said{union: []string{steady}, own: []string{steady}})
	}
	stopped(time.Second).blames(t, "AD-25")
	stopped(11*time.Second).blames(t, "AD-25", "a does not have lamps in lights.io/v1")
}

// Nor does a server that was frozen when something was defined.
func TestAD25WaitsForAServerThatWasFrozen(t *testing.T) {
	thawed := func(since time.Duration) *historyBuilder {
		t := lone().froze("a", history.ProcessPaused).serves("lamps", 201, "v1").pass(time.Minute).froze("a", history.ProcessResumed).ready("a", 200, 6)
		return t.pass(since).looksAt("a", said{union: []string{steady}, own: []string{steady}})
	}
	thawed(time.Second).blames(t, "AD-25")
	thawed(11*time.Second).blames(t, "AD-25", "a does not have lamps in lights.io/v1")
}

// A server learns of its peers when it is ready.
func TestAD15DoesNotWantPeersAtOnce(t *testing.T) {
	told := fleet().pass(time.Minute)
	for i := range told.events {
		if p := told.events[i].Process; p != nil && told.events[i].Member == "c" {
			p.Release = "0"
		}
	}
	for _, m := range []string{"a", "b", "c"} {
		told.looksAt(m, honest(m))
	}
	told.stops("a", 1).starts("a", 2).ready("a", 200, 30).polled("a", newer...).pass(time.Minute).looksAt("a", honest("a")).blames(t, "AD-15")
}

// While it is not known of one peer whether it is there, a union without what another one hosts is
// not as it should be, though it need not be the member's fault.
func TestAD23UnionBesideAPeerThatDoesNotAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		union   []string
		unclear int64
	}{"it has what the others host": {both, 0}, "it has lost that": {newer, 1}} {
		t.Run(name, func(t *testing.T) {
			told := fleet().pass(time.Minute)
			for _, m := range []string{"a", "b", "c"} {
				told.looksAt(m, honest(m))
			}
			s := honest("a")
			s.union = tc.union
			r := told.froze("b", history.ProcessPaused).pass(time.Minute).looksAt("a", s).blames(t, "AD-23")
			if r.Obligations.Unclear != tc.unclear {
				t.Errorf("%+v %q", r.Obligations, r.Reasons)
			}
		})
	}
}

// Where it is not certain when a peer had joined, it is not certain that all must know of it.
func TestAD23UnionWithoutAPeerThatMayHaveJoinedLongAgo(t *testing.T) {
	bound := requirement.MustBound("AD-23", "peersShow")
	for name, tc := range map[string]struct {
		after   time.Duration
		union   []string
		unclear int64
		want    []string
	}{
		"certainly too soon":           {bound - 7*time.Second, newer, 0, nil},
		"it may be long enough":        {bound - 2*time.Second, newer, 1, nil},
		"it is there, whenever it was": {bound - 2*time.Second, both, 0, nil},
		"certainly long enough":        {bound + time.Second, newer, 0, []string{"a does not list x.io/v1beta1"}},
	} {
		for _, besides := range []bool{false, true} { // whether another peer does not answer meanwhile
			t.Run(fmt.Sprint(name, ", and another peer is away: ", besides), func(t *testing.T) {
				told := fleet().pass(time.Minute)
				for _, m := range []string{"a", "b", "c"} {
					told.looksAt(m, honest(m))
				}
				told.leaves("c", 40).pass(10*time.Second).joins("c", 41)
				joined := &told.events[len(told.events)-1]
				joined.From = joined.At - int64(5*time.Second)
				unclear, want := tc.unclear, tc.want
				if besides {
					told.froze("b", history.ProcessPaused)
					unclear, want = unclear+int64(len(want)), nil
				}
				s := honest("a")
				s.union = tc.union
				r := told.pass(tc.after).looksAt("a", s).blames(t, "AD-23", want...)
				if r.Obligations.Unclear != unclear {
					t.Errorf("%+v %q", r.Obligations, r.Reasons)
				}
			})
		}
	}
}

// A counter that grows with the reads of one of the two documents grows with reads.
func TestAD21CountsReadsOfOneDocument(t *testing.T) {
	fails(t, "AD-21", func(e *story.Edit) {
		first, last := int64(100), int64(100)
		e.Each(func(ev *history.Event) bool {
			return ev.Member == "cp1" && ev.DiscoveryDocument != nil && ev.DiscoveryDocument.Sweep == 1
		}, func(ev *history.Event) {
			d := *ev.DiscoveryDocument
			switch {
			case d.Path == history.MetricsPath && d.Last:
				d.Aggregations = &last
			case d.Path == history.MetricsPath:
				d.Aggregations = &first
			case d.Path == corePath && d.Code == 200 && d.IfNoneMatch == "" && d.ContentType != "application/json":
				last++
			}
			ev.DiscoveryDocument = &d
		})
	})
}

// What changed last is owed until a look shows that the documents agree.
func TestAD25IsOpenUntilALook(t *testing.T) {
	has := []string{steady}
	told := func(looks bool) check.Result {
		t.Helper()
		b := lone().serves("lamps", 201, "v1").serves("lamps", 200).pass(20*time.Second).looksAt("a", said{union: has, own: has}).serves("buoys", 201, "v1").serves("buoys", 200).pass(20 * time.Second)
		if looks {
			b.looksAt("a", said{union: has, own: has})
		}
		return b.blames(t, "AD-25")
	}
	if r := told(false); r.Obligations.Open != 1 {
		t.Errorf("without a look: %+v", r.Obligations)
	}
	if r := told(true); r.Obligations.Open != 0 {
		t.Errorf("with a look: %+v", r.Obligations)
	}
}
