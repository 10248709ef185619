package election

import (
	"fmt"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

var author = Author{Coordinator: "c", Namespace: "ns", Lease: "l"}

func micro(t time.Time) *metav1.MicroTime { return ptr.To(metav1.NewMicroTime(t)) }

// candidate that behaves like what it is, and has renewed a while ago.
func candidate(name, version string) *Candidate {
	c := &Candidate{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))}}
	c.Spec.BinaryVersion, c.Spec.EmulationVersion, c.Spec.Strategy = version, version, Oldest
	c.Spec.RenewTime = micro(noon.Add(-time.Minute))
	return c
}

func lease(holder string, seconds int32) *coordinationv1.Lease {
	l := &coordinationv1.Lease{}
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds, l.Spec.Strategy = ptr.To(holder), ptr.To(seconds), ptr.To(Oldest)
	l.Spec.RenewTime = micro(noon)
	l.Annotations = map[string]string{ElectedBy: ElectedByValue, Resolved: string(Oldest)}
	return l
}

// asked is a round in which the candidates were pinged at noon.
func asked(all ...*Candidate) Round {
	round := Round{Began: noon, Asked: map[types.UID]metav1.MicroTime{}}
	for _, c := range all {
		c.Spec.PingTime = micro(noon)
		round.Asked[c.UID] = *c.Spec.PingTime
	}
	return round
}

func names(all []*Candidate) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.Name)
	}
	return out
}

func answers(all ...*Candidate) {
	for _, c := range all {
		c.Spec.RenewTime = micro(noon.Add(time.Millisecond))
	}
}

func TestElection(t *testing.T) {
	a, b, dead := candidate("a", "1.3.0"), candidate("b", "1.2.0"), candidate("dead", "1.0.0")
	dead.Spec.RenewTime = micro(noon.Add(-CandidateValidity))
	view := View{Candidates: []*Candidate{a, b, dead}}
	first := Decide(view, Round{}, noon)
	if got := names(first.Ping); !slices.Equal(got, []string{"a", "b"}) || first.Write != nil || first.Recheck != AnswerWindow {
		t.Fatalf("at first every live candidate is pinged: %+v", first)
	}
	round := asked(a, b)
	answers(a)
	if d := Decide(view, round, noon.Add(time.Second)); d.Write != nil || len(d.Ping) > 0 || d.Recheck != AnswerWindow-time.Second {
		t.Errorf("the other one is waited for: %+v", d)
	}
	if d := Decide(view, round, noon.Add(AnswerWindow)); d.Write == nil || d.Write.Holder != "a" {
		t.Errorf("the coordinator waits forever: %+v", d)
	}
	answers(b)
	if d := Decide(view, round, noon.Add(time.Second)); d.Write == nil || d.Write.Holder != "b" || d.Write.Strategy != Oldest {
		t.Errorf("the oldest of those that answered: %+v", d)
	}
	if d := Decide(View{}, Round{}, noon); d.Write != nil || d.Recheck != 0 {
		t.Errorf("without candidates nothing is done: %+v", d)
	}
}

func TestNobodyAnswers(t *testing.T) {
	a := candidate("a", "1.2.0")
	round := asked(a)
	d := Decide(View{Candidates: []*Candidate{a}}, round, noon.Add(AnswerWindow))
	if d.Write != nil || d.Recheck != Retry || !d.Round.Began.IsZero() {
		t.Errorf("it is tried again: %+v", d)
	}
	// The coordinator does not wait for a candidate that left a ping unanswered, but pings it
	// as soon as it answers.
	if d := Decide(View{Candidates: []*Candidate{a}}, Round{}, noon.Add(AnswerWindow+Retry)); len(d.Ping) > 0 || d.Write != nil {
		t.Errorf("%+v", d)
	}
	a.Spec.RenewTime = micro(noon.Add(time.Minute))
	if d := Decide(View{Candidates: []*Candidate{a}}, Round{}, noon.Add(time.Minute)); len(d.Ping) != 1 {
		t.Errorf("%+v", d)
	}
}

func TestWhenALeaseIsTaken(t *testing.T) {
	for _, test := range []struct {
		what  string
		lease *coordinationv1.Lease
		since time.Duration
		want  string
	}{
		{"none", nil, 0, "ask"},
		{"given up", lease("", 15), 0, "ask"},
		{"expired", lease("gone", 15), -15 * time.Second, "ask"},
		{"fresh", lease("a", 15), 0, "wait 10s"},
		{"nearly expired", lease("gone", 15), -11 * time.Second, "ask"},
		{"old by its own words, but seen to be renewed", func() *coordinationv1.Lease {
			l := lease("a", 15)
			l.Spec.RenewTime = micro(noon.Add(-time.Hour))
			return l
		}(), 0, "wait 10s"},
		{"without duration", &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("odd")}}, -OddDuration, "ask"},
		{"empty", &coordinationv1.Lease{}, 0, "ask"},
		{"of a leader without coordination", &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("legacy"), LeaseDurationSeconds: ptr.To[int32](15)}}, -14 * time.Second, "wait 1s"},
	} {
		t.Run(test.what, func(t *testing.T) {
			d := Decide(View{Lease: test.lease, Since: noon.Add(test.since), Candidates: []*Candidate{candidate("a", "1.2.0")}}, Round{}, noon)
			got := fmt.Sprintf("wait %s", d.Recheck)
			if len(d.Ping) > 0 {
				got = "ask"
			}
			if got != test.want || d.Write != nil {
				t.Errorf("%s: %+v", got, d)
			}
		})
	}
}

// The coordinator elects a candidate that it pinged while the Lease ran out at the end of
// the Lease and not before.
func TestDecide_NoElectionBeforeTheLeaseEnds(t *testing.T) {
	a := candidate("a", "1.2.0")
	round := asked(a)
	answers(a)
	view := View{Lease: lease("gone", 15), Since: noon.Add(-11 * time.Second), Candidates: []*Candidate{a}}
	if d := Decide(view, round, noon.Add(time.Second)); d.Write != nil || d.Recheck != 3*time.Second {
		t.Errorf("%+v", d)
	}
	if d := Decide(view, round, noon.Add(4*time.Second)); d.Write == nil || d.Write.Holder != "a" {
		t.Errorf("%+v", d)
	}
}

func TestPreemption(t *testing.T) {
	leader, like, better := candidate("leader", "1.3.0"), candidate("a-like", "1.3.0"), candidate("better", "1.2.0")
	held := lease("leader", 15)
	if d := Decide(View{Lease: held, Since: noon, Candidates: []*Candidate{leader, like}}, Round{}, noon); len(d.Ping) > 0 || d.Write != nil {
		t.Errorf("a leader is not replaced by its like: %+v", d)
	}
	all := []*Candidate{leader, like, better}
	if d := Decide(View{Lease: held, Since: noon, Candidates: all}, Round{}, noon); !slices.Equal(names(d.Ping), []string{"better"}) {
		t.Errorf("only better candidates are pinged: %+v", d)
	}
	round := asked(better)
	answers(better)
	d := Decide(View{Lease: held, Since: noon, Candidates: all}, round, noon.Add(time.Second))
	if d.Write == nil || d.Write.Preferred != "better" || d.Write.Holder != "" {
		t.Fatalf("the leader is told: %+v", d)
	}
	told := Apply(*d.Write, author, noon)
	if *told.Spec.HolderIdentity != "leader" || *told.Spec.PreferredHolder != "better" || told.Annotations[Coordinator] != "c" {
		t.Errorf("%+v", told)
	}
	if d := Decide(View{Lease: told, Since: noon, Candidates: all}, Round{}, noon); len(d.Ping) > 0 || d.Write != nil {
		t.Errorf("once is enough: %+v", d)
	}
}

func TestStrategiesOfOthers(t *testing.T) {
	a := candidate("a", "1.2.0")
	a.Spec.Strategy = "example.com/draft"
	d := Decide(View{Candidates: []*Candidate{a}}, Round{}, noon)
	if d.Write == nil || d.Write.Holder != "" || d.Write.Strategy != "example.com/draft" {
		t.Fatalf("%+v", d)
	}
	made := Apply(*d.Write, author, noon)
	if made.Spec.HolderIdentity != nil || *made.Spec.Strategy != "example.com/draft" {
		t.Errorf("%+v", made)
	}
	if d := Decide(View{Lease: made, Since: noon.Add(-time.Hour), Candidates: []*Candidate{a}}, Round{}, noon); d.Write != nil || len(d.Ping) > 0 {
		t.Errorf("the Lease is left alone: %+v", d)
	}
}

// KEP-4355, "API": the strategy with the highest priority holds, whatever the versions are.
func TestResolve_TakesTheHighestPriority(t *testing.T) {
	for _, test := range []struct {
		want    Strategy
		wanting []Strategy
	}{
		{Oldest, nil},
		{Oldest, []Strategy{Oldest, Oldest, ""}},
		{Newest, []Strategy{Oldest, Newest, Oldest}},
		{NoCoordination, []Strategy{Oldest, NoCoordination, Newest}},
		{NoCoordination, []Strategy{"example.com/a", NoCoordination}},
		{"example.com/a", []Strategy{Newest, "example.com/b", "example.com/a", Oldest}},
	} {
		for _, newestFirst := range []bool{true, false} {
			var all []*Candidate
			for i, s := range test.wanting {
				version := fmt.Sprintf("1.%d.0", i)
				if newestFirst {
					version = fmt.Sprintf("1.%d.0", len(test.wanting)-i)
				}
				c := candidate(string(rune('a'+i)), version)
				c.Spec.Strategy = s
				all = append(all, c)
			}
			if got := Resolve(all); got != test.want {
				t.Errorf("%v comes to %s, want %s", test.wanting, got, test.want)
			}
		}
	}
}

func TestBest(t *testing.T) {
	guised := candidate("guised", "1.4.0")
	guised.Spec.EmulationVersion = "1.1.0"
	young := candidate("a-young", "1.2.0")
	young.CreationTimestamp = metav1.NewTime(noon)
	all := []*Candidate{candidate("z", "1.2.0"), young, candidate("b", "1.2.0"), candidate("none", "nonsense"), guised, candidate("ten", "1.10.0")}
	var got []string
	for len(all) > 0 {
		best := Order(oldestFirst).Best(all)
		got = append(got, best.Name)
		all = slices.DeleteFunc(all, func(c *Candidate) bool { return c == best })
	}
	if want := []string{"guised", "b", "z", "a-young", "ten", "none"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if Order(oldestFirst).Best(nil) != nil {
		t.Error("no candidates have a best one")
	}
}

// Clocks that differ keep no candidate from being pinged and from answering.
func TestClocks(t *testing.T) {
	for _, off := range []time.Duration{-time.Hour, 0, time.Hour} {
		c := candidate("a", "1.2.0")
		c.Spec.RenewTime = micro(noon.Add(off))
		ping := PingTime(c, noon)
		c.Spec.PingTime = &ping
		if !Owes(c) || Answered(c, ping) {
			t.Errorf("%s: it has answered before it was asked", off)
		}
		renewed := RenewTime(c, noon.Add(off))
		c.Spec.RenewTime = &renewed
		if Owes(c) || !Answered(c, ping) {
			t.Errorf("%s: it cannot answer", off)
		}
	}
}

func TestDead(t *testing.T) {
	never := candidate("a", "1.2.0")
	never.Spec.RenewTime = nil
	if !Dead(never, noon) || Live(never, noon) {
		t.Error("a candidate that has never renewed is dead after a while")
	}
	never.CreationTimestamp = metav1.NewTime(noon)
	if Dead(never, noon) {
		t.Error("a new candidate is not dead")
	}
	ahead := candidate("a", "1.2.0")
	for by, live := range map[time.Duration]bool{time.Minute: true, CandidateValidity: false, 1e6 * time.Hour: false} {
		ahead.Spec.RenewTime = micro(noon.Add(by))
		if Live(ahead, noon) != live || Dead(ahead, noon) == live {
			t.Errorf("renewed %s from now: live is to be %v", by, live)
		}
	}
}

func TestApplyCountsTransitions(t *testing.T) {
	first := Apply(Write{Holder: "a", Strategy: Oldest}, author, noon)
	second := Apply(Write{On: first, Holder: "b", Strategy: Oldest}, author, noon.Add(time.Minute))
	if *first.Spec.LeaseTransitions != 0 || *second.Spec.LeaseTransitions != 1 || !second.Spec.AcquireTime.Equal(micro(noon.Add(time.Minute))) {
		t.Errorf("%+v %+v", first.Spec, second.Spec)
	}
	again := Apply(Write{On: second, Holder: "b", Strategy: Oldest}, author, noon.Add(time.Hour))
	if *again.Spec.LeaseTransitions != 1 || !again.Spec.AcquireTime.Equal(second.Spec.AcquireTime) || !again.Spec.RenewTime.Equal(micro(noon.Add(time.Hour))) {
		t.Errorf("the last holder was elected again: %+v", again.Spec)
	}
	claimed := Claimed(second, "kube-system", "l", "b", Oldest, Timing{LeaseDuration: 15 * time.Second}, noon.Add(time.Hour))
	if *claimed.Spec.LeaseTransitions != 1 || !claimed.Spec.AcquireTime.Equal(second.Spec.AcquireTime) {
		t.Errorf("the last holder claimed the Lease again: %+v", claimed.Spec)
	}
	second.Spec.AcquireTime = nil
	if odd := Apply(Write{On: second, Holder: "b", Strategy: Oldest}, author, noon.Add(time.Hour)); odd.Spec.AcquireTime == nil {
		t.Errorf("the time of acquisition stays empty: %+v", odd.Spec)
	}
	if second.Annotations[ElectedBy] != ElectedByValue || *first.Spec.HolderIdentity != "a" {
		t.Errorf("%+v", second)
	}
}
