package discovery_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// What is put there again while its server is dead was reached before, also where
// the first attempt had no answer.
func TestAD14KnowsWhoWasReachedBefore(t *testing.T) {
	again := func(told *historyBuilder, codes ...int) *historyBuilder {
		told.backend(history.PhaseInject, "")
		for _, code := range codes {
			told.hands(code)
		}
		return told.backend(history.PhaseWitness, "asked").pass(time.Minute).listsTides(history.FreshnessStale)
	}
	up := func() *historyBuilder { return newHistory().starts("a", 1).ready("a", 200, 5) }
	for _, codes := range [][]int{{200}, {0, 200}, {200, 0, 200}, {0, 0, 200}} {
		again(up().hands(200).pass(time.Minute).listsTides(history.FreshnessCurrent), codes...).blames(t, "AD-14")
		again(up(), codes...).blames(t, "AD-14", "after the server of tides.io/v1 could not be reached, a lists resources in it")
	}
}

// Who goes from one way not to answer to another one was never reached either.
func TestAD14KnowsWhoWasNeverReachedWhateverItDoes(t *testing.T) {
	for name, tc := range map[string]struct {
		first string
		rest  time.Duration
		want  []string
	}{
		"at once":                        {history.BackendHang, 0, []string{`after the server of tides.io/v1 could not be reached, a calls it "Current"`}},
		"after a while":                  {history.BackendHang, time.Second, nil},
		"after something like an answer": {history.BackendGarbage, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone().does(1, tc.first, history.PhaseInject).hands(201).does(1, tc.first, history.PhaseWitness)
			told.does(1, tc.first, history.PhaseHeal).pass(tc.rest).does(2, history.BackendRefuse, history.PhaseInject, history.PhaseWitness)
			told.pass(time.Minute).listsTides(history.FreshnessCurrent).blames(t, "AD-14", tc.want...)
		})
	}
}

// A server that answers that it is ready, and gives no document as long as another
// one misbehaves, was touched by that one.
func TestAD22HasTheDocumentBeServed(t *testing.T) {
	const wrong = "a is ready, and has given no discovery document for 2"
	heal := func(t *historyBuilder) *historyBuilder { return t.does(1, history.BackendHang, history.PhaseHeal) }
	fault := func(phase history.Phase) func(*historyBuilder) {
		return func(t *historyBuilder) {
			t.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "cut", Type: "NetworkChaos", Action: "partition", Phase: phase, Proof: "cut"}})
		}
	}
	for name, tc := range map[string]struct {
		tell func(*historyBuilder)
		want []string
	}{
		"no answer": {func(t *historyBuilder) { t.denies(0, 10*time.Second).stays(15 * time.Second) }, []string{wrong}},
		"503": {func(t *historyBuilder) {
			t.denies(503, 0).stays(12*time.Second).denies(503, 0).stays(12*time.Second).denies(503, 0)
		}, []string{wrong}},
		"429 and no answer": {func(t *historyBuilder) { t.denies(429, 0).stays(12*time.Second).denies(0, 0).stays(12 * time.Second) }, []string{wrong}},
		"also when it is over": {func(t *historyBuilder) {
			heal(t.denies(503, 0).stays(2*time.Second)).stays(22*time.Second).denies(503, 0)
		}, []string{wrong}},
		"for a short time": {func(t *historyBuilder) {
			t.denies(0, 10*time.Second).stays(8*time.Second).polled("a", steady).stays(30 * time.Second)
		}, nil},
		"not modified": {func(t *historyBuilder) {
			t.denies(503, 0).stays(15*time.Second).answered("a", history.DiscoveryDocument{Path: groupsPath, Accept: askedJSON, IfNoneMatch: "tag", Code: 304})
			t.stays(15 * time.Second)
		}, nil},
		"in a thorough look": {func(t *historyBuilder) {
			t.answered("a", history.DiscoveryDocument{Path: groupsPath, Accept: askedJSON, Code: 503, Sweep: 7})
			t.stays(25 * time.Second)
		}, nil},
		"only since it was over": {func(t *historyBuilder) { heal(t.polled("a", steady)).denies(503, 0).stays(30 * time.Second) }, nil},
		"and it is not ready": {func(t *historyBuilder) {
			for t.denies(503, 0); len(t.events) < 60; {
				t.stays(10*time.Second).ready("a", 0, 0)
			}
		}, nil},
		"and it was frozen": {func(t *historyBuilder) {
			t.denies(0, 10*time.Second).froze("a", history.ProcessPaused).pass(30*time.Second).froze("a", history.ProcessResumed).stays(9 * time.Second)
		}, nil},
		"and another process came": {func(t *historyBuilder) {
			t.denies(503, 0).exits("a", 1).events[len(t.events)-1].Process.Expected = true
			t.starts("a", 2).stays(30 * time.Second)
		}, nil},
		"and it is cut off": {func(t *historyBuilder) {
			fault(history.PhaseInject)(t)
			fault(history.PhaseWitness)(t)
			t.denies(0, 10*time.Second).stays(30 * time.Second)
			fault(history.PhaseHeal)(t)
			t.stays(19 * time.Second)
		}, nil},
		"and goes on when it is not cut off": {func(t *historyBuilder) {
			fault(history.PhaseInject)(t)
			t.denies(0, 10*time.Second).stays(30 * time.Second)
			fault(history.PhaseHeal)(t)
			t.stays(23 * time.Second)
		}, []string{wrong}},
	} {
		t.Run(name, func(t *testing.T) {
			told := struck()
			tc.tell(told)
			told.blames(t, "AD-22", tc.want...)
		})
	}
}

// Who was asked during a misbehavior has to show that it bore it: that it bore
// others says nothing of that one.
func TestAD22HasEveryKindBorne(t *testing.T) {
	others := []string{history.BackendGarbage, history.BackendWrongGroups, history.BackendNotModified}
	four := func() *historyBuilder {
		told := struck().polled("a", steady).does(1, history.BackendHang, history.PhaseHeal)
		for i, action := range others {
			told.does(2+i, action, history.PhaseInject, history.PhaseWitness).polled("a", steady).does(2+i, action, history.PhaseHeal)
		}
		return told
	}
	fifth := func(action string, during func(*historyBuilder)) *historyBuilder {
		told := four().does(5, action, history.PhaseInject, history.PhaseWitness)
		during(told)
		return told.does(5, action, history.PhaseHeal).polled("a", steady)
	}
	if r := four().blames(t, "AD-22"); r.Verdict != check.Pass {
		t.Errorf("%s %q", r.Verdict, r.Reasons)
	}
	for name, tc := range map[string]struct {
		action string
		during func(*historyBuilder)
		want   check.Verdict
	}{
		"borne":                 {history.BackendHuge, func(t *historyBuilder) { t.polled("a", steady) }, check.Pass},
		"borne after a failure": {history.BackendHuge, func(t *historyBuilder) { t.denies(503, 0).polled("a", steady) }, check.Pass},
		"no request was sent":   {history.BackendHuge, func(t *historyBuilder) { t.pass(time.Second) }, check.Pass},
		"503":                   {history.BackendHuge, func(t *historyBuilder) { t.denies(503, 0) }, check.Inconclusive},
		"no answer":             {history.BackendHuge, func(t *historyBuilder) { t.denies(0, 10*time.Second) }, check.Inconclusive},
		"the second time":       {history.BackendHang, func(t *historyBuilder) { t.denies(0, 10*time.Second) }, check.Inconclusive},
		"while not ready":       {history.BackendHuge, func(t *historyBuilder) { t.ready("a", 500, 0).denies(503, 0) }, check.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			r := fifth(tc.action, tc.during).blames(t, "AD-22")
			if r.Verdict != tc.want {
				t.Errorf("%s %q", r.Verdict, r.Reasons)
			}
			if tc.want == check.Inconclusive {
				reason(t, r, "a gave no document that shows that the server of tides.io did no harm when it was misbehaving ("+tc.action+")")
			}
		})
	}
	for name, tc := range map[string]struct {
		asked time.Duration
		want  check.Verdict
	}{
		"an answer that came only when it was over": {time.Second, check.Inconclusive},
		"an answer that was on its way at the end":  {7 * time.Second, check.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			told := four().does(5, history.BackendHuge, history.PhaseInject, history.PhaseWitness).pass(tc.asked)
			from := told.now
			told.pass(8*time.Second-tc.asked).does(5, history.BackendHuge, history.PhaseHeal).polled("a", steady)
			told.events[len(told.events)-1].From = from
			if r := told.blames(t, "AD-22"); r.Verdict != tc.want {
				t.Errorf("%s %q", r.Verdict, r.Reasons)
			}
		})
	}
	t.Run("no document since the one before", func(t *testing.T) {
		told := four().does(5, history.BackendHuge, history.PhaseInject, history.PhaseWitness).denies(0, 10*time.Second).does(5, history.BackendHuge, history.PhaseHeal)
		told.does(6, history.BackendReset, history.PhaseInject, history.PhaseWitness).stays(2*time.Second).does(6, history.BackendReset, history.PhaseHeal).polled("a", steady)
		reason(t, told.blames(t, "AD-22"), "misbehaving (reset)")
	})
}

// What was defined shortly before the misbehavior has to stay all the same, as far as
// it was there.
func TestAD22LooksAtWhatIsNew(t *testing.T) {
	word := func(version, resources string) string { return lights + "/" + version + ":" + resources }
	for name, tc := range map[string]struct {
		tell           func(*historyBuilder)
		before, during []string
		want           []string
	}{
		"it is gone":       {nil, []string{word("v1", "lamps")}, nil, []string{"a does not list lights.io/v1"}},
		"it was not there": {nil, nil, []string{word("v1", "lamps")}, nil},
		"it has more":      {func(t *historyBuilder) { t.serves("torches", 201, "v1") }, []string{word("v1", "lamps")}, []string{word("v1", "lamps,torches")}, nil},
		"another resource, which was never defined": {nil, []string{word("v1", "lamps")}, []string{word("v1", "lamps,torches")}, []string{"a lists torches in lights.io/v1, which was never defined"}},
		"another version, which was never defined":  {nil, []string{word("v1", "lamps")}, []string{word("v1", "lamps"), word("v9", "lamps")}, []string{"a lists lights.io/v9, which was never defined"}},
		"it was on its way out":                     {func(t *historyBuilder) { t.serves("lamps", 200, "v1beta1") }, []string{word("v1", "lamps")}, []string{word("v1beta1", "lamps")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone().hands(201).pass(time.Minute).serves("lamps", 201, "v1")
			if tc.tell != nil {
				tc.tell(told)
			}
			told.pass(3*time.Second).polled("a", append(tc.before, steady)...).does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness)
			told.polled("a", append(tc.during, steady)...).blames(t, "AD-22", tc.want...)
		})
	}
}

// What others list may arrive while a server misbehaves, and may not suffer from it.
func TestAD22_TakesAnArrivalForNoHarm(t *testing.T) {
	rains := "steady.io/v1:rains"
	for name, tc := range map[string]struct {
		before, during string
		want           []string
	}{
		"it arrives":      {steady + "!", steady, nil},
		"it stays":        {steady, steady, nil},
		"it becomes old":  {steady, steady + "!", []string{`calls steady.io/v1 "Stale"`}},
		"it has other":    {steady, rains, []string{"lists other resources in steady.io/v1"}},
		"it is gone":      {steady, apps, []string{"does not list steady.io/v1"}},
		"old and is gone": {steady + "!", apps, []string{"does not list steady.io/v1"}},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone().hands(201).pass(time.Minute).listsAll("a", apps, tc.before).does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness)
			told.listsAll("a", apps, tc.during).blames(t, "AD-22", tc.want...)
		})
	}
}

// A misbehaving server that crashes an API server touches more than its own groups.
func TestAD22_BlamesACrash(t *testing.T) {
	struck().exits("a", 1).blames(t, "AD-22", "the API server of a ended by itself")
	healed := struck().pass(time.Second).does(1, history.BackendHang, history.PhaseHeal).exits("a", 1)
	healed.events[len(healed.events)-1].From = 0 // some time before it was told
	for told, want := range map[*historyBuilder]int64{healed: 1, struck().pass(time.Second).does(1, history.BackendHang, history.PhaseHeal).pass(time.Minute).exits("a", 1): 0} {
		if r := told.blames(t, "AD-22"); r.Obligations.Unclear != want {
			t.Errorf("%+v %q", r.Obligations, r.Reasons)
		}
	}
	struck().stops("a", 1).blames(t, "AD-22")
	lone().exits("a", 1).blames(t, "AD-22")
}

// An API server that starts while the harness keeps its etcd from running cannot go on.
func TestAD22_BlamesNoEndOfAnAPIServerWithoutItsEtcd(t *testing.T) {
	etcd := func(t *historyBuilder, change string, instance int) *historyBuilder {
		return t.add(history.Event{Kind: history.KindProcess, Member: "a", Process: &history.Process{
			Component: history.ComponentEtcd, Change: change, Instance: instance, Expected: change == history.ProcessExited}})
	}
	starts := func() *historyBuilder {
		told := etcd(struck().stops("a", 1), history.ProcessStarted, 1).pass(time.Second)
		return etcd(told, history.ProcessExited, 1).pass(time.Second).starts("a", 2).pass(time.Second)
	}
	starts().exits("a", 2).blames(t, "AD-22")
	etcd(starts(), history.ProcessStarted, 2).pass(time.Second).exits("a", 2).blames(t, "AD-22", "the API server of a ended by itself")
}

// Where only the next start tells that an API server has ended, it ended by itself unless the harness
// was at a step that may have ended it, and beside a misbehavior if that lasted all the time since
// its last answer.
func TestAD22_BlamesACrashOfWhichOnlyTheNextStartTells(t *testing.T) {
	next := func(t *historyBuilder) *historyBuilder { return t.starts("a", 2).ready("a", 500, 0) }
	late := func() *historyBuilder {
		told := lone().hands(201).pass(time.Minute).polled("a", steady).ready("a", 200, 5).ready("a", 0, 0).pass(time.Second)
		return told.does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness)
	}
	step := func(member string) func(*historyBuilder) *historyBuilder {
		return func(t *historyBuilder) *historyBuilder {
			return t.add(history.Event{Kind: history.KindStep, Member: member, Step: &history.Step{Action: "crash", Phase: history.PhaseBegin}})
		}
	}
	alive := struck().ready("a", 200, 5)
	next(alive).blames(t, "AD-22", "the API server of a ended by itself (only the next start tells of it)")
	next(step("b")(struck().ready("a", 200, 5))).blames(t, "AD-22", "the API server of a ended by itself")
	reason(t, next(step("a")(struck().ready("a", 200, 5))).blames(t, "AD-22"), "is not certain")
	reason(t, next(late()).blames(t, "AD-22"), "is not certain")
	next(lone().ready("a", 200, 5)).blames(t, "AD-22")
}

// A group-version that was shown in time must stay shown, also when it is not asked for a
// change any more.
func TestShown_MustStayShown(t *testing.T) {
	lamps := lights + "/v1:lamps"
	lone().serves("lamps", 201, "v1").polled("a", lamps).pass(time.Minute).polled("a", steady).blames(t, "AD-13", "a does not have lamps in lights.io/v1")
	back := lone().hands(201).pass(time.Minute).listsAll("a", tides+"/v1:flows").does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness)
	back.listsAll("a", tides+"/v1:flows!").does(1, history.BackendHang, history.PhaseHeal).listsAll("a", tides+"/v1:flows")
	back.pass(2*time.Minute).listsAll("a", tides+"/v1:flows!").blames(t, "AD-18", "a does not call it current")
}

// The clock of a member that is ready runs whatever it answers, and stands while it is not.
func TestOwed_TheClockRunsWhileTheMemberIsReady(t *testing.T) {
	lamps := lights + "/v1:lamps"
	for name, tc := range map[string]struct {
		meanwhile func(*historyBuilder)
		want      []string
	}{
		"it answers 503": {func(t *historyBuilder) { t.every(11*time.Second, func() { t.denies(503, 0) }) }, []string{"a gave no document that shows it: it answered 503"}},
		"it answers 404": {func(t *historyBuilder) { t.every(11*time.Second, func() { t.denies(404, 0) }) }, []string{"a gave no document that shows it: it answered 404"}},
		"no answer":      {func(t *historyBuilder) { t.denies(0, time.Second).pass(10 * time.Second) }, []string{"a gave no document that shows it: it gave no answer"}},
		"it is not ready": {func(t *historyBuilder) {
			t.denies(503, 0).ready("a", 500, 0).every(11*time.Second, func() { t.denies(503, 0) }).ready("a", 200, 6)
		}, nil},
		"it is frozen": {func(t *historyBuilder) {
			t.denies(0, 0).froze("a", history.ProcessPaused).pass(time.Minute).froze("a", history.ProcessResumed)
		}, nil},
		"twice a while": {func(t *historyBuilder) {
			t.every(6*time.Second, func() { t.denies(503, 0) }).ready("a", 200, 6).ready("a", 500, 0).pass(time.Minute).ready("a", 200, 6).every(6*time.Second, func() { t.denies(503, 0) })
		}, []string{"a gave no document that shows it"}},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone().serves("lamps", 201, "v1")
			tc.meanwhile(told)
			told.polled("a", lamps).blames(t, "AD-13", tc.want...)
		})
	}
}
