package candidacy

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// However often and for however long its API server has failed, the object is seen soon after it
// is back: an informer would wait for half a minute and more.
func TestFollower_SeesSoonAfterAnAPIServerHasFailedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// What tells of failures waits until a moment after the last one, and the first is at the
		// start of the program, by its clock and not by that of this test.
		utilruntime.HandleErrorWithContext(t.Context(), errors.New("none"), "A failure before the test begins")
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "l"}}
		client := fake.NewClientset(lease)
		up := time.Now().Add(2 * time.Minute)
		client.PrependReactor("list", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			return time.Now().Before(up), nil, errors.New("no answer")
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var seen []any
		f := follow(client, client.CoordinationV1().Leases("ns"), "l", lease, func(now any) { seen = append(seen, now) })
		go f.run(ctx)
		<-f.listed
		if late := time.Since(up); late > 2*followRetry {
			t.Errorf("it was seen after %s", late)
		}
		change := func(do func() error) {
			t.Helper()
			if err := do(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		synctest.Wait()
		leases := client.CoordinationV1().Leases("ns")
		change(func() error {
			_, err := leases.Update(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "l", Labels: map[string]string{"a": "b"}}}, metav1.UpdateOptions{})
			return err
		})
		change(func() error { return leases.Delete(ctx, "l", metav1.DeleteOptions{}) })
		cancel()
		synctest.Wait()
		if len(seen) != 3 || seen[0] == nil || seen[1].(*coordinationv1.Lease).Labels["a"] != "b" || seen[2] != nil || !f.hasListed() {
			t.Errorf("it has seen %v", seen)
		}
	})
}

// What went while nothing was followed is told when it is listed again.
func TestFollower_TellsOfWhatHasGoneMeanwhile(t *testing.T) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "l"}}
	client := fake.NewClientset()
	var seen []any
	f := follow(client, client.CoordinationV1().Leases("ns"), "l", lease, func(now any) { seen = append(seen, now) })
	for _, listed := range [][]any{{}, {lease}, {}} {
		if err := f.Replace(listed, "1"); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 2 || seen[0] == nil || seen[1] != nil {
		t.Errorf("it has told %v", seen)
	}
}
