package scenario

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
)

const leaderKey = "/registry/leases/kube-system/kube-controller-manager"

// lease is a change of the Lease of the controller managers; sec is when it was renewed last.
func lease(holder, preferred string, sec int) history.Event {
	return history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: leaderKey, Revision: int64(sec),
		Lease: &history.Lease{Holder: holder, Preferred: preferred, Strategy: "OldestEmulationVersion", Renewed: time.Unix(int64(sec), 0), Coordinator: "host-cp3_x"}}}
}

func candidate(pinged int) history.Event {
	return history.Event{Kind: history.KindStored, Stored: &history.Stored{Type: history.StoredPut, Key: "/registry/leasecandidates/kube-system/a",
		Candidate: &history.Candidate{Lease: "kube-controller-manager", Pinged: time.Unix(int64(pinged), 0), Coordinator: "host-cp3"}}}
}

func process(member, change string) history.Event {
	return history.Event{Kind: history.KindProcess, Member: member, Process: &history.Process{Component: history.ComponentAPIServer, Change: change}}
}

func ready(member string, code int) history.Event {
	return history.Event{Kind: history.KindReady, Member: member, Ready: &history.Ready{Code: code}}
}

// metAt is the index of the event at which a trigger is met that is armed before the event of
// an index; -1 if it is not.
func metAt(r *Runner, when *Trigger, armed int, events []history.Event) (int, string) {
	var all triggers
	one := all.add(r.triggerState(when))
	for i := range events {
		if i == armed {
			all.arm(one)
		}
		all.take(&events[i])
		select {
		case <-one.met:
			return i, one.who
		default:
		}
	}
	return -1, ""
}

func TestTrigger_IsMetAtTheEvent(t *testing.T) {
	elections := []history.Event{
		lease("host-cp1_a", "", 1), lease("host-cp1_a", "", 2), lease("host-cp1_a", "host-cp2_b", 2), lease("", "host-cp2_b", 3),
		lease("host-cp2_b", "", 4), lease("host-cp2_b", "", 5), candidate(1), candidate(2),
	}
	lives := []history.Event{
		process("cp2", history.ProcessStarted), ready("cp2", 500), ready("cp2", 200), process("cp1", history.ProcessStopping),
		process("cp2", history.ProcessStopping), ready("cp2", 200), process("cp2", history.ProcessExited), process("cp2", history.ProcessStarted), ready("cp2", 200),
	}
	for name, tc := range map[string]struct {
		when   Trigger
		armed  int
		events []history.Event
		want   int
		who    string
	}{
		"third write":                        {Trigger{Write: &WriteTrigger{Key: leaderKey, Count: 3}}, 0, elections, 2, "host-cp1_a"},
		"third write, armed late":            {Trigger{Write: &WriteTrigger{Key: leaderKey, Count: 3}}, 2, elections, 4, "host-cp2_b"},
		"third write of the coordinator":     {Trigger{Write: &WriteTrigger{Key: leaderKey, By: "coordinator", Count: 3}}, 0, elections, 4, "host-cp3_x"},
		"fourth write of the coordinator":    {Trigger{Write: &WriteTrigger{Key: leaderKey, By: "coordinator", Count: 4}}, 0, elections, -1, ""},
		"ping":                               {Trigger{Write: &WriteTrigger{Key: "/registry/leasecandidates/", By: "coordinator"}}, 0, elections, 7, "host-cp3"},
		"renewal":                            {Trigger{Write: &WriteTrigger{Key: leaderKey, By: "holder"}}, 0, elections, 1, "host-cp1_a"},
		"release":                            {Trigger{Write: &WriteTrigger{Key: leaderKey, By: "holder", Count: 2}}, 0, elections, 3, "host-cp1_a"},
		"revision":                           {Trigger{Write: &WriteTrigger{Key: leaderKey, Revision: 3}}, 0, elections, 3, ""},
		"key that only begins so":            {Trigger{Write: &WriteTrigger{Key: "/registry/leases/kube-system/kube"}}, 0, elections, -1, ""},
		"election":                           {Trigger{Elected: "kube-controller-manager"}, 3, elections, 4, "host-cp2_b"},
		"election before it was armed":       {Trigger{Elected: "kube-controller-manager"}, 1, elections, 4, "host-cp2_b"},
		"elected and armed before a renewal": {Trigger{Elected: "kube-controller-manager"}, 1, []history.Event{elections[0], candidate(1)}, 1, "host-cp1_a"},
		"exists":                             {Trigger{Exists: "/registry/leasecandidates/"}, 0, elections, 6, ""},
		"exists already":                     {Trigger{Exists: leaderKey}, 5, elections, 5, ""},
		"ready":                              {Trigger{Member: &MemberTrigger{Name: "@cp2", Phase: "ready"}}, 0, lives, 2, "cp2"},
		"ready again":                        {Trigger{Member: &MemberTrigger{Name: "@cp2", Phase: "ready"}}, 3, lives, 8, "cp2"},
		"stopping":                           {Trigger{Member: &MemberTrigger{Name: "cp2", Phase: "stopping"}}, 0, lives, 4, "cp2"},
		"started again":                      {Trigger{Member: &MemberTrigger{Name: "cp2", Phase: "started"}}, 1, lives, 7, "cp2"},
		"other component":                    {Trigger{Member: &MemberTrigger{Name: "cp2", Component: "etcd", Phase: "exited"}}, 0, lives, -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.when.validate(); err != nil {
				t.Fatal(err)
			}
			got, who := metAt(newRunner(newFake(), newHistory()), &tc.when, tc.armed, tc.events)
			if got != tc.want || who != tc.who {
				t.Errorf("met at event %d by %q, want %d by %q", got, who, tc.want, tc.who)
			}
		})
	}
}

func TestTrigger_StepWaitsForItsState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, h := newFake(), newHistory()
		r := newRunner(fake, h)
		r.Scenario.Steps = []Step{
			{Action: &Stop{Target: Target{Member: "@cp1"}}},
			{Action: &Stop{Target: Target{Member: "@triggered"}}, When: &Trigger{Elected: "kube-controller-manager", Within: time.Hour}},
		}
		r.addTriggers()
		var err error
		done := make(chan struct{})
		go func() { defer close(done); err = r.playAll(t.Context()) }()
		synctest.Wait()
		if want := []string{"stop cp1"}; !slices.Equal(fake.calls, want) {
			t.Errorf("before its state the cluster was asked for %v", fake.calls)
		}
		r.History.Record(lease("host-cp2_b", "", 1))
		<-done
		if want := []string{"stop cp1", "stop cp2"}; err != nil || !slices.Equal(fake.calls, want) {
			t.Errorf("the cluster was asked for %v (%v), want %v", fake.calls, err, want)
		}
		at := slices.IndexFunc(h.events, func(e history.Event) bool {
			return e.Step != nil && e.Step.Index == 2 && e.Step.Phase == history.PhaseBegin
		})
		if at < 0 || !strings.Contains(h.events[at].Step.Message, "a new holder of the Lease kube-controller-manager") {
			t.Errorf("the begin of the step does not say by what it was triggered: %v", h.events)
		}
	})
}

func TestTrigger_LeavesTheStepOutAfterItsBound(t *testing.T) {
	for _, optional := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			fake, h := newFake(), newHistory()
			r := newRunner(fake, h)
			r.Scenario.Steps = []Step{
				{Action: &Inject{Strike: Strike{Fault: "slow.yaml", Member: "@cp1"}},
					When: &Trigger{Write: &WriteTrigger{Key: leaderKey}, Within: 5 * time.Second, Optional: optional}},
				{Action: &Heal{Strike: Strike{Fault: "slow.yaml"}}},
				{Action: &Stop{Target: Target{Member: "@cp3"}}},
			}
			r.addTriggers()
			began := time.Now()
			if err := r.playAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took != 5*time.Second {
				t.Errorf("it waited for %s", took)
			}
			if want := []string{"stop cp3"}; !slices.Equal(fake.calls, want) {
				t.Errorf("the cluster was asked for %v, want %v", fake.calls, want)
			}
			told, found := h.told(), h.notReached()
			if !slices.Contains(told, "1 inject skipped ") || !slices.Contains(told, "2 heal skipped ") {
				t.Errorf("the history does not say what was left out: %v", told)
			}
			if len(found) != 1 || found[0].NotReached.Judged != optional || found[0].NotReached.Bound != int64(5*time.Second) {
				t.Errorf("not reached: %+v", found)
			}
		})
	}
}

func TestTrigger_EndsWithTheRun(t *testing.T) {
	fake, h := newFake(), newHistory()
	r := newRunner(fake, h)
	r.Scenario.Steps = []Step{{Action: &Stop{Target: Target{Member: "@cp1"}}, When: &Trigger{Exists: leaderKey}}}
	r.addTriggers()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.playAll(ctx); err == nil || len(h.notReached()) != 0 {
		t.Errorf("error %v, not reached %v", err, h.notReached())
	}
}

func TestTrigger_MistakesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{within: 1s}":                                            "needs one of",
		"{elected: a, exists: /registry/b}":                       "needs one of",
		"{exists: leases}":                                        "must begin with /registry/",
		"{write: {key: /registry/a, by: user}}":                   "write.by",
		"{write: {key: /registry/a, by: holder, deleted: true}}":  "write.deleted",
		"{migrated: {migration: m, share: half}}":                 "percentage",
		"{migrated: {migration: m, share: 50%}}":                  "no earlier step makes a migration",
		"{member: {name: '@leader', phase: ready}}":               "single member",
		"{member: {name: '@cp1', component: etcd, phase: ready}}": "apiserver only",
		"{member: {name: '@cp1', phase: gone}}":                   "no member.phase",
		"{elected: a, within: -1s}":                               "must not be negative",
	} {
		var when Trigger
		if err := strictyaml.Decode("when", []byte(text), &when); err != nil {
			t.Fatal(err)
		}
		step := Step{Action: &Stop{Target: Target{Member: "@cp1"}}, When: &when}
		if err := step.whenProblem(&names{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	alone := Step{Action: &Stop{Target: Target{Member: "@triggered"}}}
	if err := alone.whenProblem(&names{}); err == nil {
		t.Error("a step without a trigger selects its member")
	}
	r := newRunner(newFake(), newHistory())
	r.foreign = foreignCluster{}
	if err := r.checkTrigger(&Trigger{Exists: leaderKey}); err == nil {
		t.Error("a cluster whose etcd cannot be read takes a trigger of etcd")
	}
}

func TestStep_WhenStandsBesideTheAction(t *testing.T) {
	var s Scenario
	err := strictyaml.Decode("s.yaml", []byte(`steps:
  - stop: {member: "@cp1", component: etcd}
    when: {write: {key: /registry/a/, count: 3, by: coordinator}, within: 20s, optional: true}
  - when: {elected: x}
    boot: {member: "@cp1"}
`), &s)
	if err != nil {
		t.Fatal(err)
	}
	if one := s.Steps[0]; one.Name() != "stop" || one.When == nil || one.When.Write.Count != 3 || one.When.Within != 20*time.Second || !one.When.Optional {
		t.Errorf("read %+v", one.When)
	}
	if one := s.Steps[1]; one.Name() != "boot" || one.When.Elected != "x" || one.Action.(*Boot).Member != "@cp1" {
		t.Errorf("read %+v", one)
	}
	err = strictyaml.Decode("s.yaml", []byte("steps:\n  - stop: {member: a}\n    when: {elected: x, until: 3s}\n"), &s)
	if err == nil || !strings.Contains(err.Error(), "until") {
		t.Errorf("an unknown key of a trigger: %v", err)
	}
}

func TestMemberFor_FindsNamesAndHosts(t *testing.T) {
	r := newRunner(newFake(), newHistory())
	for who, want := range map[string]string{"cp2": "cp2", "host-cp3_a1": "cp3", "host-cp1": "cp1", "evenkeel-absent": "", "": ""} {
		if got, _ := r.memberFor(who); got != want {
			t.Errorf("%q is at %q, want %q", who, got, want)
		}
	}
}

func TestBoot_StartsWhatIsStoppedOnly(t *testing.T) {
	fake, h := newFake(), newHistory()
	r := newRunner(fake, h)
	r.Scenario.Steps = []Step{
		{Action: &Stop{Target: Target{Member: "@cp2"}}},
		{Action: &Boot{Target: Target{Member: "@all"}}},
	}
	if err := r.playAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"stop cp2", "start cp2 1.2"}; !slices.Equal(fake.calls, want) {
		t.Errorf("the cluster was asked for %v, want %v", fake.calls, want)
	}
	if err := r.play(t.Context(), 3, &Step{Action: &Boot{Target: Target{Member: "@cp2"}}}); err == nil {
		t.Error("what runs was started")
	}
	// Where its trigger left the stop out, there is nothing to start, and that is no mistake.
	r.passedOver = true
	if why := r.lacking(&Boot{Target: Target{Member: "@cp2"}}); why == "" {
		t.Error("the boot of what was not stopped is not left out")
	}
}
