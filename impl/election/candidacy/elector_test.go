package candidacy

import (
	"context"
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/election"
	"github.com/evenkeel/evenkeel/impl/election/electiontest"
)

const patience = 20 * time.Second

func elector(t *testing.T, client *fake.Clientset, change func(*Options)) *Elector {
	t.Helper()
	o := Options{
		Client: client, Namespace: "ns", Lease: "l", Name: "me", BinaryVersion: "1.2.0",
		Lead: func(ctx context.Context, _ Term) { <-ctx.Done() },
	}
	if change != nil {
		change(&o)
	}
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func read(t *testing.T, client *fake.Clientset) *coordinationv1.Lease {
	t.Helper()
	lease, err := client.CoordinationV1().Leases("ns").Get(t.Context(), "l", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// leads has an elector lead by the Lease that the server has.
func leads(t *testing.T, e *Elector, client *fake.Clientset) {
	t.Helper()
	e.see(read(t, client))
	if taken, err := e.take(t.Context(), e.next()); err != nil || taken == nil {
		t.Fatalf("it does not take its Lease: %v", err)
	}
}

// The kind of bug: a decision on one copy of the Lease and a write by another one, by which an
// instance renewed for another holder and led.
func TestElector_ARenewalIsForTheLeaseItWasDecidedOn(t *testing.T) {
	client := electiontest.NewServer(electiontest.Lease("ns", "l", "me"))
	e := elector(t, client, func(o *Options) { o.Clock = clocktesting.NewFakeClock(time.Now()) })
	leads(t, e, client)
	e.options.Clock.(*clocktesting.FakeClock).Step(3 * time.Second)
	step := e.next()
	if step.Move != election.Renew {
		t.Fatalf("%+v", step)
	}
	// Between decision and write the watch tells that another holder has the Lease.
	theirs := read(t, client)
	theirs.Spec.HolderIdentity = ptr.To("other")
	theirs, err := client.CoordinationV1().Leases("ns").Update(t.Context(), theirs, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e.see(theirs)
	if err := e.renew(t.Context(), step.On); err == nil {
		t.Error("the renewal succeeded")
	}
	if now := read(t, client); now.ResourceVersion != theirs.ResourceVersion {
		t.Errorf("it renewed for another holder: %+v", now.Spec)
	}
	if step := e.next(); step.Move != election.Stop {
		t.Errorf("it goes on: %+v", step)
	}
}

func TestElector_ADeletionBetweenDecisionAndWriteStopsIt(t *testing.T) {
	for _, move := range []election.Move{election.Take, election.Renew} {
		t.Run(string(move), func(t *testing.T) {
			client := electiontest.NewServer(electiontest.Lease("ns", "l", "me"))
			e := elector(t, client, func(o *Options) { o.Clock = clocktesting.NewFakeClock(time.Now()) })
			if move == election.Renew {
				leads(t, e, client)
				e.options.Clock.(*clocktesting.FakeClock).Step(3 * time.Second)
			} else {
				e.see(read(t, client))
			}
			step := e.next()
			if step.Move != move {
				t.Fatalf("%+v", step)
			}
			if err := client.CoordinationV1().Leases("ns").Delete(t.Context(), "l", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			e.gone()
			if taken, err := e.write(t.Context(), election.Renewed(step.On, e.options.Timing, time.Now()), e.steady()); err == nil || taken != nil {
				t.Errorf("it leads by a Lease that does not exist: %+v", taken)
			}
			if next := e.next(); next.Move == election.Renew || next.Move == election.Take {
				t.Errorf("%+v", next)
			}
		})
	}
}

func TestElector_WorksWhileElectedAndGivesTheLeaseUpWhenTold(t *testing.T) {
	client := electiontest.NewServer(electiontest.Lease("ns", "l", "me"))
	began, ended := make(chan Term, 1), make(chan error, 1)
	e := elector(t, client, func(o *Options) {
		o.Timing = election.Timing{RetryPeriod: 50 * time.Millisecond}
		o.Lead = func(ctx context.Context, term Term) {
			began <- term
			<-ctx.Done()
			ended <- context.Cause(ctx)
		}
	})
	released := make(chan struct{}, 1)
	client.PrependReactor("update", "leases", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if l := a.(clienttesting.UpdateAction).GetObject().(*coordinationv1.Lease); l.Spec.HolderIdentity == nil {
			released <- struct{}{}
		}
		return false, nil, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Run(ctx)
	}()
	term := within(t, began, "it does not lead")
	if err := term.Leading(); err != nil {
		t.Errorf("the leader may not act: %v", err)
	}
	for told := false; !told; {
		lease := read(t, client)
		lease.Spec.PreferredHolder = ptr.To("better")
		_, err := client.CoordinationV1().Leases("ns").Update(t.Context(), lease, metav1.UpdateOptions{})
		told = err == nil
	}
	_ = within(t, ended, "it goes on although it was told to give way")
	within(t, released, "it does not give the Lease up")
	if term.Leading() == nil {
		t.Error("it may act after it gave the Lease up")
	}
	cancel()
	within(t, done, "it does not end")
	if left, err := client.CoordinationV1beta1().LeaseCandidates("ns").List(t.Context(), metav1.ListOptions{}); err != nil || len(left.Items) > 0 {
		t.Errorf("its candidate was not withdrawn: %v %v", left.Items, err)
	}
}

func within[T any](t *testing.T, c <-chan T, otherwise string) T {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case v := <-c:
		return v
	case <-timer.C:
		t.Fatal(otherwise)
		panic("unreachable")
	}
}

// A pause of any kind, a suspend of the machine included, shows in the clock that the elector
// goes by. The work ends with a cause, and health tells of work that does not end.
func TestElector_EndsItsWorkWhenTheLastRenewalIsTooLongAgo(t *testing.T) {
	client := electiontest.NewServer(electiontest.Lease("ns", "l", "me"))
	clk := clocktesting.NewFakeClock(time.Now())
	stuck := make(chan struct{})
	cause := make(chan error, 1)
	e := elector(t, client, func(o *Options) {
		o.Clock = clk
		o.Lead = func(ctx context.Context, _ Term) {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			<-stuck
		}
	})
	leads(t, e, client)
	w := e.work(t.Context(), e.current())
	if err := e.Healthy(time.Second); err != nil {
		t.Errorf("a leader that renews: %v", err)
	}
	for !clk.HasWaiters() {
	}
	clk.Step(election.RenewDeadline)
	if got := within(t, cause, "the work goes on"); !errors.Is(got, ErrNotRenewed) {
		t.Errorf("the cause is %v", got)
	}
	if e.leading() == nil {
		t.Error("it may act")
	}
	clk.Step(election.LeaseDuration)
	if e.Healthy(time.Second) == nil {
		t.Error("work that does not end is called healthy")
	}
	close(stuck)
	w.end()
	if err := e.Healthy(time.Second); err != nil {
		t.Errorf("after the work has ended: %v", err)
	}
}

// endOnceLeading runs an Elector until it leads, and has its context end. It tells when Run is over.
func endOnceLeading(t *testing.T, e *Elector, began <-chan struct{}) (done <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		e.Run(ctx)
	}()
	within(t, began, "it does not lead")
	cancel()
	return over
}

// A leader whose context ends stops working, and releases its Lease unless it is to keep it.
func TestElector_KeepsTheLeaseOnExitWhereToldTo(t *testing.T) {
	for _, keep := range []bool{false, true} {
		client := electiontest.NewServer(electiontest.Lease("ns", "l", "me"))
		began, ended := make(chan struct{}), make(chan struct{})
		e := elector(t, client, func(o *Options) {
			o.KeepLease = keep
			o.Lead = func(ctx context.Context, _ Term) {
				close(began)
				<-ctx.Done()
				close(ended)
			}
		})
		done := endOnceLeading(t, e, began)
		within(t, ended, "it goes on working")
		within(t, done, "it does not end")
		if holder := ptr.Deref(read(t, client).Spec.HolderIdentity, ""); (holder == "me") != keep {
			t.Errorf("keep %v: the Lease is held by %q", keep, holder)
		}
	}
}

// A renewal that was under way when the leader was told to end may reach the server before the
// release does.
func TestElector_GivesTheLeaseUpAfterARenewalThatWasUnderWay(t *testing.T) {
	client := electiontest.NewServer(electiontest.Lease("ns", "l", "me"))
	overtaken := false
	client.PrependReactor("update", "leases", func(a clienttesting.Action) (bool, runtime.Object, error) {
		lease, ok := a.(clienttesting.UpdateAction).GetObject().(*coordinationv1.Lease)
		if !ok || overtaken || ptr.Deref(lease.Spec.HolderIdentity, "") != "" {
			return false, nil, nil
		}
		overtaken = true
		renewed := electiontest.Lease("ns", "l", "me")
		renewed.ResourceVersion = "1000"
		return false, nil, client.Tracker().Update(a.GetResource(), renewed, "ns")
	})
	e, began := elector(t, client, nil), make(chan struct{})
	e.options.Lead = func(ctx context.Context, _ Term) {
		close(began)
		<-ctx.Done()
	}
	done := endOnceLeading(t, e, began)
	within(t, done, "it does not end")
	if holder := ptr.Deref(read(t, client).Spec.HolderIdentity, ""); !overtaken || holder != "" {
		t.Errorf("the Lease is held by %q, and the release was overtaken: %t", holder, overtaken)
	}
}

// A candidate with a stable name is there from the process before, at another release.
func TestCandidate_ARestartAtAnotherReleaseDeclaresItsVersion(t *testing.T) {
	client := electiontest.NewServer(electiontest.Candidate("ns", "me", "l", "1.1.0"))
	e := elector(t, client, nil)
	for range 2 { // to find it, and to write it
		if _, err := e.candidate.declare(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	now, err := client.CoordinationV1beta1().LeaseCandidates("ns").Get(t.Context(), "me", metav1.GetOptions{})
	if err != nil || now.Spec.BinaryVersion != "1.2.0" || now.Spec.EmulationVersion != "1.2.0" {
		t.Errorf("it declares %+v %v", now.Spec, err)
	}
}

// Another client may delete a candidate whose component lives.
func TestCandidate_IsDeclaredAgainAfterItsDeletion(t *testing.T) {
	client := electiontest.NewServer()
	e := elector(t, client, nil)
	candidates := client.CoordinationV1beta1().LeaseCandidates("ns")
	if _, err := e.candidate.declare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := candidates.Delete(t.Context(), "me", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.candidate.remember(nil) // as the watch tells
	if _, err := e.candidate.declare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := candidates.Get(t.Context(), "me", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func TestCandidate_OfAnotherLeaseIsRefused(t *testing.T) {
	client := electiontest.NewServer(electiontest.Candidate("ns", "me", "another", "1.2.0"))
	e := elector(t, client, nil)
	if _, err := e.candidate.declare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.candidate.declare(t.Context()); err == nil {
		t.Error("a candidate of another Lease is taken for its own")
	}
}

func TestElector_ClaimsOnlyIfNoBetterCandidateIsThere(t *testing.T) {
	better := electiontest.Candidate("ns", "better", "l", "1.1.0")
	client := electiontest.NewServer(better, electiontest.Candidate("ns", "me", "l", "1.2.0"))
	clk := clocktesting.NewFakeClock(time.Now())
	e := elector(t, client, func(o *Options) { o.Clock = clk })
	e.begin()
	clk.Step(election.FallbackDelay)
	step := e.next()
	if step.Move != election.Claim {
		t.Fatalf("%+v", step)
	}
	if taken, err := e.take(t.Context(), step); taken != nil || err != nil {
		t.Errorf("it claims the Lease before a better candidate: %+v %v", taken, err)
	}
	if step := e.next(); step.Move != election.Wait || step.Within != election.FallbackStep {
		t.Errorf("%+v", step)
	}
	clk.Step(election.FallbackStep)
	if taken, err := e.take(t.Context(), e.next()); taken == nil || err != nil || *taken.Spec.HolderIdentity != "me" {
		t.Errorf("it does not claim the Lease after the better one had its time: %v", err)
	}
}
