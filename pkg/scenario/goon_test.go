package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// broken is what a provider says of an API server that does not become ready.
func broken(member string) error {
	return fmt.Errorf("start: %w", &cluster.Unready{Member: member, Component: cluster.APIServer, Waited: time.Minute, Bound: 3 * time.Minute,
		Code: 500, Failing: []string{"etcd"}, What: "was not ready within 3m0s: /readyz answered 500; its log /home/jane/bundle/logs/cp1-apiserver.log ends with: x"})
}

// notReached are the events of that kind.
func (h *fakeHistory) notReached() (out []history.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		if e.NotReached != nil {
			out = append(out, e)
		}
	}
	return out
}

func TestPlayAll_GoesOnAfterAMemberThatIsNotReady(t *testing.T) {
	fake, h := newFake(), newHistory()
	fake.fail["start cp1 1.3"] = broken("cp1")
	r := newRunner(fake, h)
	r.Scenario.Steps = []Step{
		{Action: &Upgrade{Replace: Replace{Member: "@cp1", To: "@next", WithFaults: []string{"slow.yaml"}}}},
		{Action: &Rollback{Replace: Replace{Member: "@cp1", To: "@start"}}},
	}
	if err := r.playAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"link cp1 etcd 1s", "stop cp1", "start cp1 1.3", "link cp1 etcd 0s", "stop cp1", "start cp1 1.2"}; !slices.Equal(fake.calls, want) {
		t.Errorf("calls %v, want %v", fake.calls, want)
	}
	told := h.told()
	for _, want := range []string{"1 upgrade failed cp11.3", "slow-1 heal cp1", "2 rollback end cp11.2"} {
		if !slices.Contains(told, want) {
			t.Errorf("the history lacks %q: %v", want, told)
		}
	}
	found := h.notReached()
	if len(found) != 1 {
		t.Fatalf("%d things were not reached, want 1: %+v", len(found), found)
	}
	got := *found[0].NotReached
	if got.Step != 1 || got.Action != "upgrade" || got.Awaited != history.AwaitedReady || got.Component != history.ComponentAPIServer || found[0].Member != "cp1" ||
		got.Code != 500 || !slices.Equal(got.Failing, []string{"etcd"}) || got.Bound != int64(3*time.Minute) || got.Judged || strings.Contains(got.Message, "jane") {
		t.Errorf("told %+v of %s", got, found[0].Member)
	}
	end := r.End(nil)
	if !end.Complete || end.Message != "" || len(end.NotReached) != 1 || !strings.HasPrefix(end.NotReached[0], "step 1 (upgrade): cp1 apiserver ready not reached within 3m0s: ") {
		t.Errorf("end %+v", end)
	}
}

func TestPlayAll_TheHarnessOwnFailureSpoilsTheRun(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		told int
	}{
		{"alone", errors.New("the binary is missing"), 0},
		{"beside what was not reached", errors.Join(broken("cp1"), errors.New("the disk is full")), 1},
		{"a wait that was given up", fmt.Errorf("waiting was given up: %w", context.Canceled), 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fake, h := newFake(), newHistory()
			fake.fail["stop cp1"] = tc.err
			r := newRunner(fake, h)
			r.Scenario.Steps = []Step{{Action: &Stop{Target: Target{Member: "cp1"}}}, {Action: &Stop{Target: Target{Member: "cp2"}}}}
			err := r.playAll(t.Context())
			if !errors.Is(err, tc.err) || slices.Contains(fake.calls, "stop cp2") || len(h.notReached()) != tc.told {
				t.Errorf("error %v after %v, told %+v", err, fake.calls, h.notReached())
			}
			if r.End(err).Complete {
				t.Error("the run counts as complete")
			}
		})
	}
}

func TestPlayAll_AnInterruptedRunTellsOfNoFinding(t *testing.T) {
	fake, h := newFake(), newHistory()
	r := newRunner(fake, h)
	ctx, cancel := context.WithCancel(t.Context())
	fake.fail["stop cp1"] = broken("cp1")
	r.Progress = func(p Progress) {
		if p.Phase == history.PhaseFailed {
			cancel()
		}
	}
	r.Scenario.Steps = []Step{{Action: &Stop{Target: Target{Member: "cp1"}}}}
	if err := r.playAll(ctx); err == nil || len(h.notReached()) != 0 {
		t.Errorf("error %v, told %+v", err, h.notReached())
	}
}

func TestPartedCauses(t *testing.T) {
	answer := func(code int) observe.Answer { return observe.Answer{Code: code, Message: "m"} }
	call := observe.Call{Verb: "create", Resource: "pods", Name: "p"}
	bound := &unreached{NotReached: history.NotReached{Awaited: history.AwaitedEnd, Message: "it was not over within 1s"}}
	noPods := apierrors.NewServiceUnavailable("no")
	for _, tc := range []struct {
		name   string
		err    error
		want   string // awaited, member and code of each, with the component in between
		spoilt int
	}{
		{"a refusal", fmt.Errorf("step: %w", refused(call, "cp1", answer(500))), "answer cp1 apiserver 500", 0},
		{"a refusal of what was asked for", refused(call, "cp1", answer(422)), "answer cp1 apiserver 422", 0},
		{"no answer", refused(call, "cp2", observe.Answer{Err: errors.New("connection refused")}), "answer cp2 apiserver 0", 0},
		{"a refusal of the recorders' client", &observe.Refusal{What: "w", Member: "cp3", Answer: answer(503)}, "answer cp3 apiserver 503", 0},
		{"a refusal of client-go", fmt.Errorf("policy: %w", noPods), "answer  apiserver 503", 0},
		{"the step's bound alone", errors.Join(bound, context.DeadlineExceeded), "end   0", 0},
		{"what the step has waited for", errors.Join(bound, broken("cp1")), "ready cp1 apiserver 500", 0},
		{"the same twice", errors.Join(broken("cp1"), broken("cp1")), "ready cp1 apiserver 500", 0},
		{"two", errors.Join(broken("cp1"), broken("cp2")), "ready cp1 apiserver 500, ready cp2 apiserver 500", 0},
		{"the harness", errors.New("x"), "", 1},
		{"an API that does not exist", apierrors.NewNotFound(schema.GroupResource{}, "x"), "answer  apiserver 404", 0},
		{"a process that no step has ended", fmt.Errorf("kill: %w", cluster.ErrNoProcess), "process cp2 etcd 0", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRunner(newFake(), newHistory())
			r.lives.take(cluster.Change{Member: "cp2", Component: cluster.Etcd, What: history.ProcessExited, Exit: "exit status 1"})
			found, spoilt := r.partedCauses(tc.err)
			var got []string
			for _, one := range found {
				got = append(got, fmt.Sprintf("%s %s %s %d", one.Awaited, one.member, one.Component, one.Code))
			}
			if strings.Join(got, ", ") != tc.want || len(spoilt) != tc.spoilt {
				t.Errorf("got %v and %v, want %s and %d", got, spoilt, tc.want, tc.spoilt)
			}
		})
	}
}

func TestAProcessThatAStepHasEndedIsNoFinding(t *testing.T) {
	r := newRunner(newFake(), newHistory())
	for _, change := range []cluster.Change{
		{Member: "cp1", Component: cluster.Etcd, What: history.ProcessExited, Expected: true},
		{Member: "cp2", Component: cluster.APIServer, What: history.ProcessExited},
		{Member: "cp2", Component: cluster.APIServer, What: history.ProcessStarted},
	} {
		r.lives.take(change)
	}
	if found, spoilt := r.partedCauses(cluster.ErrNoProcess); len(found) != 0 || len(spoilt) != 1 {
		t.Errorf("found %v, spoilt %v", found, spoilt)
	}
}

func TestPlayAll_LeavesOutWhatNeedsWhatWasNotReached(t *testing.T) {
	fake, h := newFake(), newHistory()
	r := newRunner(fake, h)
	r.Scenario.Steps = []Step{
		{Action: &AwaitMigrations{Migrations: []string{"m"}}},
		{Action: &Stop{Target: Target{Member: "cp1"}}},
	}
	// Without anything that was not reached, what is missing is a mistake of the scenario.
	if err := r.playAll(t.Context()); err == nil || len(fake.calls) != 0 {
		t.Errorf("error %v after %v", err, fake.calls)
	}
	r.unreached = []string{"step 1 (migrate): x"}
	if err := r.playAll(t.Context()); err != nil || !slices.Equal(fake.calls, []string{"stop cp1"}) {
		t.Errorf("error %v after %v", err, fake.calls)
	}
	if told := h.told(); !slices.Contains(told, "1 awaitMigrations skipped ") {
		t.Errorf("told %v", told)
	}
	for _, step := range []Action{
		&Mutate{Population: "p"}, &DeleteNamespace{Population: "p"}, &Migrate{Population: "p"}, &AwaitMigrations{Migrations: []string{"m"}}, &DeleteMigration{Migration: "m"},
		&WaitForHits{Fault: "slow.yaml"}, &RegisterAPI{Backend: "b"}, &UnregisterAPI{Backend: "b"}, &Churn{Backend: "b"}, &SetBackendBehavior{Name: "b"},
	} {
		if r.lacking(step) == "" {
			t.Errorf("%T lacks nothing", step)
		}
	}
	r.populations["p"], r.migrated["m"] = &population{}, &migrating{}
	for _, step := range []Action{&Mutate{Population: "p"}, &Migrate{Population: "p"}, &Migrate{Resource: "r"}, &AwaitMigrations{Migrations: []string{"m"}}, &Churn{}, &Hold{}} {
		if why := r.lacking(step); why != "" {
			t.Errorf("%T is left out: %s", step, why)
		}
	}
}

// A step whose member cannot be chosen has not begun.
func TestPlayAll_LeavesOutAStepWithoutALeader(t *testing.T) {
	fake, h := newFake(), newHistory()
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(fake, h)
		r.Clock = clock.RealClock{}
		r.Scenario.Steps = []Step{{Action: &Stop{Target: Target{Member: "@leader"}}}, {Action: &Stop{Target: Target{Member: "@cp1"}}}}
		r.cluster = silentCluster{fake}
		if err := r.playAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if told := h.told(); !slices.Contains(told, "1 stop skipped ") || !slices.Contains(fake.calls, "stop cp1") {
		t.Errorf("told %v, calls %v", told, fake.calls)
	}
	if found := h.notReached(); len(found) == 0 || found[0].NotReached.Awaited != history.AwaitedLeader {
		t.Errorf("told %+v", found)
	}
}

func TestWeigh_EndsARunInWhichNoMemberServes(t *testing.T) {
	fake, h := newFake(), newHistory()
	fake.fail["stop cp1"] = broken("cp1")
	r := newRunner(fake, h)
	r.Scenario.Steps = []Step{{Action: &Stop{Target: Target{Member: "cp1"}}}, {Action: &Stop{Target: Target{Member: "cp2"}}}}
	synctest.Test(t, func(t *testing.T) {
		r.Clock = clock.RealClock{}
		r.recorders.members = []*memberRecorders{{name: "cp1", prober: observe.NewProber("cp1", nil, h, nil, r.Clock, nil)}}
		if err := r.playAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	found, told := h.notReached(), h.told()
	if len(found) != 2 || found[1].NotReached.Awaited != history.AwaitedService || !slices.Contains(told, "2 stop skipped ") || slices.Contains(fake.calls, "stop cp2") {
		t.Errorf("told %+v and %v, calls %v", found, told, fake.calls)
	}
	if end := r.End(nil); !end.Complete || !strings.Contains(end.Message, "no member has served for 1m0s") || len(end.NotReached) != 2 {
		t.Errorf("end %+v", end)
	}
}

func TestWeigh_EndsARunThatWaitsInVainForTooLong(t *testing.T) {
	fake, h := newFake(), newHistory()
	r := newRunner(fake, h)
	r.vain = VainTimeout + time.Second
	if err := r.weigh(t.Context(), 3, "upgrade"); err != nil {
		t.Fatal(err)
	}
	r.Scenario.Steps = []Step{{Action: &Stop{Target: Target{Member: "cp1"}}}}
	if err := r.playAll(t.Context()); err != nil || len(fake.calls) != 0 {
		t.Errorf("error %v after %v", err, fake.calls)
	}
	if found := h.notReached(); len(found) != 1 || found[0].NotReached.Awaited != history.AwaitedEnd || found[0].NotReached.Step != 3 {
		t.Errorf("told %+v", found)
	}
	// A second less, and it goes on.
	r = newRunner(fake, h)
	r.vain = VainTimeout
	if err := r.weigh(t.Context(), 3, "upgrade"); err != nil || r.ended != "" {
		t.Errorf("ended: %v, %s", err, r.ended)
	}
}

// What a failed step has injected does not stay for the steps after it.
func TestPlayAll_TakesBackWhatAFailedStepHasInjected(t *testing.T) {
	fake, h := newFake(), newHistory()
	fake.fail["stop cp2 apiserver"] = broken("cp2")
	r := newRunner(fake, h)
	r.Scenario.Steps = []Step{
		{Action: &Inject{Strike: Strike{Fault: "slow.yaml", Member: "@cp1"}}},
		{Action: &Stop{Target: Target{Member: "@cp2", Component: "apiserver"}}},
		{Action: &Heal{Strike: Strike{Fault: "slow.yaml"}}},
	}
	// The inject step of before stays for its heal step.
	if err := r.playAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"link cp1 etcd 1s", "stop cp2 apiserver", "link cp1 etcd 0s"}; !slices.Equal(fake.calls, want) {
		t.Errorf("calls %v, want %v", fake.calls, want)
	}
	before := r.injected()
	if _, err := r.inject(t.Context(), "slow.yaml", "cp3"); err != nil {
		t.Fatal(err)
	}
	active, err := r.inject(t.Context(), "slow.yaml", "cp3")
	if err != nil {
		t.Fatal(err)
	}
	r.active["slow.yaml"] = active
	if err := r.takeBack(t.Context(), 4, "storm", before); err != nil || len(r.active["slow.yaml"]) != 0 || fake.calls[len(fake.calls)-1] != "link cp3 etcd 0s" {
		t.Errorf("error %v, active %v, calls %v", err, r.active, fake.calls)
	}
	if told := h.told(); told[len(told)-1] != "slow-3 heal cp3" {
		t.Errorf("told %v", told)
	}
}

func TestPassOver_IsJudgedElsewhere(t *testing.T) {
	h := newHistory()
	r := newRunner(newFake(), h)
	r.passOver(t.Context(), 7, time.Minute, history.AwaitedState, "cp1", "the migration %s has not ended", "m")
	found := h.notReached()
	if len(found) != 1 || !found[0].NotReached.Judged || found[0].From != 7 || len(r.End(nil).NotReached) != 0 {
		t.Errorf("told %+v, end %+v", found, r.End(nil))
	}
}

func TestHopes_GivesUpOnAMemberUntilItIsReady(t *testing.T) {
	prober := func(name string) *memberRecorders {
		return &memberRecorders{name: name, prober: observe.NewProber(name, nil, newHistory(), nil, clock.RealClock{}, nil)}
	}
	rs := &recorders{members: []*memberRecorders{prober("cp1"), prober("cp2"), prober("cp3")}}
	rs.members[2].prober.ProcessChanged(cluster.Change{Member: "cp3", Component: cluster.APIServer, What: history.ProcessExited, Expected: true})
	rs.giveUp("cp2")
	if hopeful, givenUp := rs.hopes(); !slices.Equal(hopeful, []string{"cp1"}) || !slices.Equal(givenUp, []string{"cp2"}) {
		t.Errorf("hopeful %v, given up %v", hopeful, givenUp)
	}
}

// silentCluster has API servers that answer nothing.
type silentCluster struct{ *fakeCluster }

func (silentCluster) ClientConfig(string, bool) (*rest.Config, error) {
	return &rest.Config{Host: "http://127.0.0.1:1"}, nil
}
