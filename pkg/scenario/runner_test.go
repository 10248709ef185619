package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/fault"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// newRunner makes a runner in the state in which Play plays the steps. It has no recorders,
// so it waits for none.
func newRunner(fake *fakeCluster, h *fakeHistory) *Runner {
	clk := testclock.NewFakeClock(time.Unix(0, 0))
	r := New(Options{
		Scenario: &Scenario{File: "x.yaml", Faults: map[string]*fault.Fault{
			"slow.yaml": {Name: "slow", Type: fault.TypeNetwork, Action: "delay", Member: fault.StepMember, One: true,
				Components: []cluster.Component{cluster.APIServer}, Effect: fault.LinkFault{Link: cluster.LinkEtcd, Shape: cluster.Shape{Latency: time.Second}}},
			"crash.yaml": {Name: "crash", Type: fault.TypePod, Action: "container-kill", Effect: fault.Kill{}, Member: fault.StepMember, One: true,
				Components: []cluster.Component{cluster.APIServer}},
			"first.yaml": {Name: "first", Type: fault.TypeNetwork, Action: "delay", Member: "@cp1", One: true,
				Components: []cluster.Component{cluster.APIServer}, Effect: fault.LinkFault{Link: cluster.LinkEtcd, Shape: cluster.Shape{Latency: time.Second}}},
			"lost.yaml": {Name: "lost", Member: "@cp9"},
		}},
		Run: "r", History: h, Clock: clk, Rand: rand.New(rand.NewPCG(1, 2)),
	})
	r.cluster = fake
	r.faults = fault.NewExecutor(fake, fault.NewAPI(r.directConfig, clk), h, clk)
	r.start = map[string]string{"cp1": "1.2", "cp2": "1.2", "cp3": "1.2"}
	return r
}

func TestStepsAreCarriedOutInOrder(t *testing.T) {
	fake, h := newFake(), newHistory()
	fake.process["cp1"] = cluster.Process{PID: 7, StartTime: 7}
	r := newRunner(fake, h)
	steps := []Step{
		{Action: &Upgrade{Replace: Replace{Member: "@cp1", To: "@next", WithFaults: []string{"slow.yaml"}}}},
		{Action: &Rollback{Replace: Replace{Member: "cp1", To: "@start"}}},
		{Action: &Restart{Members: []string{"@cp3", "@cp3"}, Release: "1.1"}},
		{Action: &Inject{Strike: Strike{Fault: "slow.yaml", Member: "cp2"}}},
		{Action: &Heal{Strike: Strike{Fault: "slow.yaml"}}},
		{Action: &Inject{Strike: Strike{Fault: "crash.yaml", Member: "cp1"}}},
		{Action: &Heal{Strike: Strike{Fault: "crash.yaml"}}},
		{Action: &Stop{Target: Target{Member: "cp2", Component: "apiserver"}}},
		{Action: &Boot{Target: Target{Member: "cp2", Component: "apiserver"}}},
	}
	for i := range steps {
		if err := r.play(t.Context(), i+1, &steps[i]); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"link cp1 etcd 1s", "stop cp1", "start cp1 1.3", "link cp1 etcd 0s",
		"stop cp1", "start cp1 1.2",
		"stop cp3", "start cp3 1.1",
		"link cp2 etcd 1s", "link cp2 etcd 0s",
		"kill cp1 apiserver", "start cp1 apiserver",
		"stop cp2 apiserver", "start cp2 apiserver",
	}
	if !slices.Equal(fake.calls, want) {
		t.Errorf("the cluster was asked for\n%s\nwant\n%s", strings.Join(fake.calls, "\n"), strings.Join(want, "\n"))
	}
	told := h.told()
	for _, want := range []string{"1 upgrade begin cp11.3", "slow-1 inject cp1", "slow-1 heal cp1", "1 upgrade end cp11.3",
		"2 rollback begin cp11.2", "3 restart end cp31.1", "crash-3 witness cp1", "9 boot end cp2"} {
		if !slices.Contains(told, want) {
			t.Errorf("the history lacks %q:\n%s", want, strings.Join(told, "\n"))
		}
	}
	// Nothing could be measured, so a delay must not claim a witness.
	if slices.Contains(told, "slow-1 witness cp1") {
		t.Error("a fault without a measurement has a witness")
	}
}

func TestFaultsAreHealedWhereTheStepSays(t *testing.T) {
	fake := newFake()
	r := newRunner(fake, newHistory())
	steps := []Step{
		{Action: &Inject{Strike: Strike{Fault: "slow.yaml", Member: "@all"}}},
		{Action: &Heal{Strike: Strike{Fault: "slow.yaml", Member: "@cp2"}}},
		{Action: &Heal{Strike: Strike{Fault: "slow.yaml"}}},
		{Action: &Restart{Members: []string{"@all"}, Together: true, WithFaults: []string{"first.yaml"}}},
	}
	var links []string
	for i := range steps {
		if err := r.play(t.Context(), i+1, &steps[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, call := range fake.calls {
		if strings.HasPrefix(call, "link") {
			links = append(links, call)
		}
	}
	want := []string{
		"link cp1 etcd 1s", "link cp2 etcd 1s", "link cp3 etcd 1s",
		"link cp2 etcd 0s",
		"link cp1 etcd 0s", "link cp3 etcd 0s",
		"link cp1 etcd 1s", "link cp1 etcd 0s", // once, however many restart
	}
	if !slices.Equal(links, want) {
		t.Errorf("links were shaped\n%s\nwant\n%s", strings.Join(links, "\n"), strings.Join(want, "\n"))
	}
	if err := r.play(t.Context(), 5, &Step{Action: &Heal{Strike: Strike{Fault: "slow.yaml", Member: "@cp2"}}}); err == nil {
		t.Error("a fault was healed twice")
	}
}

func TestACrashHealsOnlyItself(t *testing.T) {
	fake := newFake()
	fake.process["cp1"], fake.process["cp2"] = cluster.Process{PID: 7}, cluster.Process{PID: 8}
	r := newRunner(fake, newHistory())
	r.Clock = clock.RealClock{}
	steps := []Step{{Action: &Inject{Strike: Strike{Fault: "crash.yaml", Member: "@cp2"}}}, {Action: &Crash{Strike: Strike{Fault: "crash.yaml", Member: "@cp1"}}}}
	for i := range steps {
		if err := r.play(t.Context(), i+1, &steps[i]); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"kill cp2 apiserver", "kill cp1 apiserver", "start cp1 apiserver"}; !slices.Equal(fake.calls, want) {
		t.Errorf("calls %v, want %v", fake.calls, want)
	}
}

func TestPlay_RecordsNoPathOfTheMachine(t *testing.T) {
	fake, h := newFake(), newHistory()
	fake.fail["start"] = errors.New("its log /home/jane/bundle/logs/cp1-etcd.log is empty")
	r := newRunner(fake, h)
	r.Scenario.Steps = []Step{{Action: &Stop{Target: Target{Member: "@cp1"}}}}
	err := r.Play(t.Context(), fake)
	if !errors.Is(err, fake.fail["start"]) {
		t.Errorf("error %v", err)
	}
	said := r.End(err).Message
	for _, e := range h.events {
		if e.Step != nil {
			said += e.Step.Message
		}
	}
	if strings.Contains(said, "jane") || strings.Count(said, "logs/cp1-etcd.log") != 2 {
		t.Errorf("recorded %s", said)
	}
}

func TestTogetherStopsAllBeforeAnyStarts(t *testing.T) {
	fake := newFake()
	r := newRunner(fake, newHistory())
	if err := r.play(t.Context(), 1, &Step{Action: &Restart{Members: []string{"@all"}, Together: true, Release: "@next"}}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(fake.calls[:3])
	if want := []string{"stop cp1", "stop cp2", "stop cp3", "start cp1 1.3 cp2 1.3 cp3 1.3"}; !slices.Equal(fake.calls, want) {
		t.Errorf("calls %v", fake.calls)
	}
}

func TestAFailingStepEndsTheRunAndHeals(t *testing.T) {
	fake, h := newFake(), newHistory()
	fake.fail["stop cp1"] = errors.New("it will not stop")
	r := newRunner(fake, h)
	err := r.play(t.Context(), 4, &Step{Action: &Upgrade{Replace: Replace{Member: "cp1", To: "1.3", WithFaults: []string{"slow.yaml"}}}})
	if err == nil || !strings.Contains(err.Error(), "step 4 (upgrade): it will not stop") {
		t.Errorf("error %v", err)
	}
	if last := fake.calls[len(fake.calls)-1]; last != "link cp1 etcd 0s" {
		t.Errorf("the link was left faulty: %v", fake.calls)
	}
	if told := h.told(); told[len(told)-1] != "4 upgrade failed cp11.3" {
		t.Errorf("told %v", told)
	}
	if end := r.End(err); end.Complete || end.Message == "" {
		t.Errorf("end %+v", end)
	}
}

func TestUnplayableScenariosAreRefusedBeforeAnythingRuns(t *testing.T) {
	for _, test := range []struct {
		name  string
		start string
		step  Step
		want  string
	}{
		{"too few members", "", Step{Action: &Stop{Target: Target{Member: "@cp5"}}}, "step 1 (stop)"},
		{"unknown fault", "", Step{Action: &Crash{Strike: Strike{Fault: "lost.yaml"}}}, "step 1 (crash)"},
		{"Lease of no member", "", Step{Action: &Tamper{Member: "@cp1", DeleteIdentityLeases: []string{"cp9"}}}, "selects no member"},
		{"guest through many", "", Step{Action: &SimulatedServer{Member: "@all", Name: "g"}}, "means 3 members"},
		{"tamper through many", "", Step{Action: &Tamper{Member: "@all", DeleteStorageVersions: []string{"x"}}}, "means 3 members"},
		{"other release", "1.3", Step{Action: &Stop{Target: Target{Member: "@cp1"}}}, "begins with release 1.3"},
		{"no such release", "7.7", Step{Action: &Stop{Target: Target{Member: "@cp1"}}}, "no release \"7.7\""},
	} {
		t.Run(test.name, func(t *testing.T) {
			fake, h := newFake(), newHistory()
			r := newRunner(fake, h)
			r.Scenario.Start.Release = test.start
			r.Scenario.Steps = []Step{test.step}
			err := r.Play(t.Context(), fake)
			if err == nil || !strings.Contains(err.Error(), test.want) || len(fake.calls) != 0 || len(h.events) != 0 {
				t.Errorf("error %v after %v", err, fake.calls)
			}
		})
	}
}

func TestCancelAndAFullDiskStopARun(t *testing.T) {
	for _, test := range []struct {
		name string
		stop func(cancel context.CancelFunc, h *fakeHistory)
		want string
	}{
		{"cancel", func(cancel context.CancelFunc, _ *fakeHistory) { cancel() }, "canceled"},
		{"full disk", func(_ context.CancelFunc, h *fakeHistory) { close(h.failed) }, "the disk is full"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			fake, h := newFake(), newHistory()
			r := newRunner(fake, h)
			r.Scenario.Steps = []Step{{Action: &Upgrade{Replace: Replace{Member: "cp1", To: "@next"}}}}
			// The fake has no API server to become ready: the boot waits for one.
			stop := sync.OnceFunc(func() { test.stop(cancel, h) })
			r.Progress = func(Progress) { stop() }
			err := r.Play(ctx, fake)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if told := h.told(); told[len(told)-1] != "0 boot failed " {
				t.Errorf("told %v", told)
			}
		})
	}
}

func TestAPowerCycleEndsWhenEtcdIsWhole(t *testing.T) {
	whole := history.EtcdHealth{Target: 5, Members: []history.EtcdMember{{Member: "cp1", ID: "1", Leader: "1", Voters: 1, Applied: 5}}}
	behind := history.EtcdHealth{Target: 9, Members: whole.Members}
	for _, tc := range []struct {
		name, member string
		answers      []history.EtcdHealth // one look after the other; the last stays
		calls, want  string
	}{
		{"one", "@cp1", []history.EtcdHealth{whole}, "off cp1, on cp1", ""},
		{"one whose etcd takes a while", "@cp1", []history.EtcdHealth{behind, whole}, "off cp1, on cp1", ""},
		{"one whose etcd stays behind", "@cp1", []history.EtcdHealth{behind}, "off cp1, on cp1", "etcd was not whole again within 1m0s: the etcd of cp1 has applied its log up to 5, and the leader had up to 9"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fake, h := newFake(), newHistory()
			fake.process["cp1"] = cluster.Process{PID: 7, StartTime: 7}
			r := newRunner(fake, h)
			clk := r.Clock.(*testclock.FakeClock)
			ctx, cancel := context.WithCancelCause(t.Context())
			looks := 0
			r.etcdHealth = func(context.Context) history.EtcdHealth {
				looks++
				if looks > 2*len(tc.answers) {
					// The bound is the context's, which no fake clock moves.
					cancel(fmt.Errorf("etcd was not whole again within %s", RejoinTimeout))
				}
				return tc.answers[min(looks, len(tc.answers))-1]
			}
			over := make(chan struct{})
			go func() {
				for {
					select {
					case <-over:
						return
					default:
						clk.Step(time.Second)
						runtime.Gosched()
					}
				}
			}()
			err := r.play(ctx, 1, &Step{Action: &PowerCycle{Member: tc.member, OffFor: time.Second}})
			close(over)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if got := strings.Join(fake.calls, ", "); got != tc.calls {
				t.Errorf("calls %s, want %s", got, tc.calls)
			}
		})
	}
}

func TestAllArePoweredOffBeforeAnyIsOn(t *testing.T) {
	fake := newFake()
	r := newRunner(fake, newHistory())
	r.Clock = clock.RealClock{}
	r.faults = fault.NewExecutor(fake, fault.NewAPI(r.directConfig, r.Clock), r.History, r.Clock)
	r.etcdHealth = func(context.Context) history.EtcdHealth {
		return history.EtcdHealth{Target: 5, Members: []history.EtcdMember{{Member: "cp1", ID: "1", Leader: "1", Voters: 1, Applied: 5}}}
	}
	if err := r.play(t.Context(), 1, &Step{Action: &PowerCycle{Member: "@all", OffFor: time.Nanosecond}}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"off cp1", "off cp2", "off cp3"}; !slices.Equal(fake.calls[:3], want) || len(fake.calls) != 6 {
		t.Errorf("calls %v", fake.calls)
	}
}

// ownWay is a cluster with ways of its own.
type ownWay struct {
	*fakeCluster
	missing error
}

func (o ownWay) Prepare(_ context.Context, releases []string) error {
	return errors.Join(o.did("prepare %s", strings.Join(releases, " ")), o.missing)
}

func (o ownWay) Replace(_ context.Context, member, release string) error {
	o.mu.Lock()
	o.releases[member] = release
	o.mu.Unlock()
	return o.did("replace %s %s", member, release)
}

func TestAProvidersOwnWayToAnotherRelease(t *testing.T) {
	fake := newFake()
	r := newRunner(fake, newHistory())
	r.cluster = ownWay{fakeCluster: fake}
	steps := []Step{
		{Action: &Upgrade{Replace: Replace{Member: "@cp1", To: "@next", WithFaults: []string{"slow.yaml"}}}},
		{Action: &Rollback{Replace: Replace{Member: "@cp1", To: "@start"}}},
		{Action: &Rollback{Replace: Replace{Member: "@cp1", To: "@start"}}}, // it is there: nothing to replace it with
		{Action: &Restart{Members: []string{"@cp2"}, Release: "@next"}},
	}
	for i := range steps {
		if err := r.play(t.Context(), i+1, &steps[i]); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"link cp1 etcd 1s", "replace cp1 1.3", "link cp1 etcd 0s",
		"replace cp1 1.2",
		"stop cp1", "start cp1 1.2",
		"stop cp2", "start cp2 1.3",
	}
	if !slices.Equal(fake.calls, want) {
		t.Errorf("the cluster was asked for\n%s\nwant\n%s", strings.Join(fake.calls, "\n"), strings.Join(want, "\n"))
	}
	if (&Upgrade{}).within(r, 2) != 2*ReplaceTimeout || r.bound("restart") != StepTimeout || r.bound(actionBoot) != BootTimeout {
		t.Errorf("bounds %s, %s, %s", (&Upgrade{}).within(r, 2), r.bound("restart"), r.bound(actionBoot))
	}
}

func TestWhatIsMissingIsToldBeforeAnythingRuns(t *testing.T) {
	fake := newFake()
	r := newRunner(fake, newHistory())
	r.Scenario.Steps = []Step{{Action: &Upgrade{Replace: Replace{Member: "@cp1", To: "@next"}}}}
	err := r.Play(t.Context(), ownWay{fake, errors.New("the image of 1.3 is not there: pull it")})
	if err == nil || !strings.Contains(err.Error(), "x.yaml cannot be played: the image of 1.3 is not there") {
		t.Errorf("error %v", err)
	}
	if want := []string{"prepare 1.2 1.3"}; !slices.Equal(fake.calls, want) {
		t.Errorf("calls %v, want %v", fake.calls, want)
	}
}

func TestReleasesUsed(t *testing.T) {
	known := []string{"1.1", "1.2", "1.3", "1.4"}
	up := func(member, to string) Step { return Step{Action: &Upgrade{Replace: Replace{Member: member, To: to}}} }
	for _, tc := range []struct {
		name        string
		start       map[string]string // of those that do not begin with 1.2
		steps       []Step
		want, error string
	}{
		{"none", nil, []Step{{Action: &Hold{Name: "a"}}}, "1.2", ""},
		{"own start", map[string]string{"cp2": "1.1"}, nil, "1.1 1.2", ""},
		{"up and back", nil, []Step{up("@cp1", "@next"), up("@cp1", "@start")}, "1.2 1.3", ""},
		{"two up", nil, []Step{up("@cp1", "@next"), up("@cp1", "@next")}, "1.2 1.3 1.4", ""},
		{"one up each", nil, []Step{up("@cp1", "@next"), up("@cp2", "@next")}, "1.2 1.3", ""},
		{"down from above", map[string]string{"cp3": "1.4"}, []Step{up("cp3", "@previous")}, "1.2 1.3 1.4", ""},
		{"the one after the first", nil, []Step{up("@leader", "@start+1"), up("@leader", "@start+1")}, "1.2 1.3", ""},
		{"the second after the first", nil, []Step{up("@cp1", "@start+2"), up("@cp1", "@start+2")}, "1.2 1.4", ""},
		{"by name", nil, []Step{up("@all", "1.4")}, "1.2 1.4", ""},
		{"restart", nil, []Step{{Action: &Restart{Members: []string{"@cp1", "@cp2"}, Release: "@oldest"}}}, "1.1 1.2", ""},
		{"restart at its own", nil, []Step{{Action: &Restart{Members: []string{"@all"}}}}, "1.2", ""},
		{"the leader", nil, []Step{up("@leader", "@next"), up("@leader", "@next")}, "1.2 1.3 1.4", ""},
		{"the leader, then one by name", nil, []Step{up("@leader", "@newest"), up("@cp1", "@next")}, "1.2 1.3 1.4", ""},
		{"beyond the last", nil, []Step{up("@cp1", "@newest"), up("@cp1", "@next")}, "", "step 2 (upgrade): there is no release after 1.4"},
		{"unknown", nil, []Step{up("@cp1", "2.0")}, "", `step 1 (upgrade): there is no release "2.0"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start := map[string]string{"cp1": "1.2", "cp2": "1.2", "cp3": "1.2"}
			maps.Copy(start, tc.start)
			got, err := (&Scenario{Steps: tc.steps}).releasesUsed([]string{"cp1", "cp2", "cp3"}, start, known, nil)
			if tc.error != "" {
				if err == nil || !strings.Contains(err.Error(), tc.error) {
					t.Errorf("error %v, want %q", err, tc.error)
				}
				return
			}
			if err != nil || strings.Join(got, " ") != tc.want {
				t.Errorf("%v, %v; want %s", got, err, tc.want)
			}
		})
	}
}
