package coordinator

import (
	"context"
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/election"
	"github.com/evenkeel/evenkeel/impl/election/electiontest"
)

const patience = 20 * time.Second

// coordinates runs a shift over a server until the test ends.
func coordinates(t *testing.T, client *fake.Clientset, leading func() error) *shift {
	t.Helper()
	o := Options{Identity: "c_1"}
	o.complete()
	s := newShift(client, o, leading)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return s
}

func always() error { return nil }

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) { return is(ctx), nil })
	if err != nil {
		t.Fatalf("never %s", what)
	}
}

// answer has the candidates of a server answer their pings.
func answer(ctx context.Context, client *fake.Clientset, names ...string) {
	candidates := client.CoordinationV1beta1().LeaseCandidates("ns")
	for _, name := range names {
		if c, err := candidates.Get(ctx, name, metav1.GetOptions{}); err == nil && election.Owes(c) {
			c.Spec.RenewTime = ptr.To(election.RenewTime(c, time.Now()))
			_, _ = candidates.Update(ctx, c, metav1.UpdateOptions{}) // the next look tries again
		}
	}
}

func leaseOf(ctx context.Context, client *fake.Clientset) *coordinationv1.Lease {
	lease, err := client.CoordinationV1().Leases("ns").Get(ctx, "l", metav1.GetOptions{})
	if err != nil {
		return &coordinationv1.Lease{}
	}
	return lease
}

func TestShift_ElectsAndLetsAnOperatorChangeTheLeader(t *testing.T) {
	client := electiontest.NewServer(electiontest.Candidate("ns", "old", "l", "1.2.0"), electiontest.Candidate("ns", "new", "l", "1.3.0"))
	coordinates(t, client, always)
	eventually(t, "the oldest leads", func(ctx context.Context) bool {
		answer(ctx, client, "old", "new")
		return ptr.Deref(leaseOf(ctx, client).Spec.HolderIdentity, "") == "old"
	})
	eventually(t, "the operator can write", func(ctx context.Context) bool {
		lease := leaseOf(ctx, client)
		lease.Spec.Strategy, lease.Spec.LeaseDurationSeconds = ptr.To(election.Newest), ptr.To[int32](3600)
		_, err := client.CoordinationV1().Leases("ns").Update(ctx, lease, metav1.UpdateOptions{})
		return err == nil
	})
	eventually(t, "the leader is told to give way to the newest", func(ctx context.Context) bool {
		answer(ctx, client, "old", "new")
		return ptr.Deref(leaseOf(ctx, client).Spec.PreferredHolder, "") == "new"
	})
	if lease := leaseOf(t.Context(), client); *lease.Spec.Strategy != election.Newest || lease.Annotations[election.Coordinator] != "c_1" {
		t.Errorf("%+v", lease)
	}
}

func TestShift_WritesNothingWhenItDoesNotLead(t *testing.T) {
	client := electiontest.NewServer(electiontest.Candidate("ns", "a", "l", "1.2.0"))
	asked := make(chan struct{}, 1)
	coordinates(t, client, func() error {
		select {
		case asked <- struct{}{}:
		default:
		}
		return errors.New("another one coordinates")
	})
	for range 3 { // it tries again
		select {
		case <-asked:
		case <-time.After(patience):
			t.Fatal("it does not ask whether it leads")
		}
	}
	for _, a := range client.Actions() {
		if a.GetVerb() == "update" || a.GetVerb() == "create" {
			t.Errorf("%s of %s", a.GetVerb(), a.GetResource().Resource)
		}
	}
}

func TestShift_ForgetsALeaseWithoutCandidates(t *testing.T) {
	client := electiontest.NewServer(electiontest.Candidate("ns", "a", "l", "1.2.0"))
	s := coordinates(t, client, always)
	remembers := func() int {
		s.memory.mu.Lock()
		defer s.memory.mu.Unlock()
		return len(s.memory.leases)
	}
	eventually(t, "it looks at the Lease", func(context.Context) bool { return remembers() == 1 })
	if err := client.CoordinationV1beta1().LeaseCandidates("ns").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it forgets the Lease", func(context.Context) bool { return remembers() == 0 })
}

func TestShift_RemovesDeadCandidates(t *testing.T) {
	dead := electiontest.Candidate("ns", "dead", "l", "1.2.0")
	dead.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now().Add(-2 * election.CandidateValidity)))
	dead.CreationTimestamp = metav1.NewTime(time.Now().Add(-2 * election.CandidateValidity))
	client := electiontest.NewServer(dead)
	coordinates(t, client, always)
	eventually(t, "it is gone", func(ctx context.Context) bool {
		_, err := client.CoordinationV1beta1().LeaseCandidates("ns").Get(ctx, "dead", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func TestShift_TriesAgainAfterAFailedWrite(t *testing.T) {
	client := electiontest.NewServer(electiontest.Candidate("ns", "a", "l", "1.2.0"))
	failures := 2
	client.PrependReactor("create", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		if failures > 0 {
			failures--
			return true, nil, apierrors.NewInternalError(errors.New("etcd has no leader"))
		}
		return false, nil, nil
	})
	s := coordinates(t, client, always)
	told := false
	eventually(t, "the candidate leads", func(ctx context.Context) bool {
		answer(ctx, client, "a")
		told = told || s.troubles.Longest() != nil
		return ptr.Deref(leaseOf(ctx, client).Spec.HolderIdentity, "") == "a"
	})
	if !told {
		t.Error("the failures were not shown")
	}
	eventually(t, "the failures are shown no more", func(context.Context) bool { return s.troubles.Longest() == nil })
}
