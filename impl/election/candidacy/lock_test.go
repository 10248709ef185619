package candidacy

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/election"
	"github.com/evenkeel/evenkeel/impl/election/electiontest"
)

func lockOn(t *testing.T, objects ...runtime.Object) (*Lock, *fake.Clientset, *clocktesting.FakeClock) {
	t.Helper()
	client, clk := electiontest.NewServer(objects...), clocktesting.NewFakeClock(time.Now())
	l, err := NewLock(Options{Client: client, Namespace: "ns", Lease: "l", Name: "me", BinaryVersion: "1.2.0", Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	return l, client, clk
}

var mine = resourcelock.LeaderElectionRecord{HolderIdentity: "me", LeaseDurationSeconds: 20}

func TestLock_TakesNoLeaseThatItWasNotGiven(t *testing.T) {
	l, client, clk := lockOn(t, electiontest.Lease("ns", "l", "other"), electiontest.Candidate("ns", "me", "l", "1.2.0"))
	if _, _, err := l.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	clk.Step(election.ElectedDuration) // it has expired, and client-go would take it
	if err := l.Update(t.Context(), mine); !errors.Is(err, ErrNotElected) {
		t.Errorf("%v", err)
	}
	if *read(t, client).Spec.HolderIdentity != "other" {
		t.Error("it took the Lease")
	}
	clk.Step(election.FallbackDelay)
	if err := l.Update(t.Context(), mine); err != nil || *read(t, client).Spec.HolderIdentity != "me" {
		t.Errorf("without a coordinator it does not claim the Lease: %v", err)
	}
}

func TestLock_MakesALeaseOnlyWhenNoCoordinatorDoes(t *testing.T) {
	l, client, clk := lockOn(t, electiontest.Candidate("ns", "me", "l", "1.2.0"))
	if _, _, err := l.Get(t.Context()); !apierrors.IsNotFound(err) {
		t.Fatalf("%v", err)
	}
	if err := l.Create(t.Context(), mine); !errors.Is(err, ErrNotElected) {
		t.Errorf("%v", err)
	}
	clk.Step(election.FallbackDelay)
	if _, _, err := l.Get(t.Context()); !apierrors.IsNotFound(err) {
		t.Fatalf("%v", err)
	}
	if err := l.Create(t.Context(), mine); err != nil || *read(t, client).Spec.HolderIdentity != "me" {
		t.Errorf("%v", err)
	}
}

func TestLock_RenewsUntilItIsToldToGiveWay(t *testing.T) {
	l, client, clk := lockOn(t, electiontest.Lease("ns", "l", "me"))
	if record, _, err := l.Get(t.Context()); err != nil || record.HolderIdentity != "me" {
		t.Fatalf("%+v %v", record, err)
	}
	for range 2 {
		if err := l.Update(t.Context(), mine); err != nil || l.Leading() != nil {
			t.Fatalf("%v, %v", err, l.Leading())
		}
		clk.Step(2 * time.Second)
	}
	lease := read(t, client)
	if *lease.Spec.LeaseDurationSeconds != 20 || *lease.Spec.Strategy != election.Oldest {
		t.Errorf("%+v", lease.Spec)
	}
	lease.Spec.PreferredHolder = ptr.To("better")
	if _, err := client.CoordinationV1().Leases("ns").Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // on the optimistic path, and after it has read the Lease
		if err := l.Update(t.Context(), mine); err == nil {
			t.Fatal("it renews a Lease that is marked")
		}
		if _, _, err := l.Get(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err != nil {
		t.Fatal(err)
	}
	if now := read(t, client); now.Spec.HolderIdentity != nil || now.Spec.PreferredHolder != nil || l.Leading() == nil {
		t.Errorf("it does not give the Lease up: %+v", now.Spec)
	}
}
