package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func lease(name, label string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"a": label}}}
}

// telling makes a follower of all Leases of ns, which writes down what it tells.
func telling(client kubernetes.Interface) (f *Follower[*coordinationv1.Lease], told *[]string) {
	told = new([]string)
	of := func(l *coordinationv1.Lease) string {
		if l == nil {
			return "none"
		}
		return l.Name + l.Labels["a"]
	}
	return New(client, client.CoordinationV1().Leases("ns"), nil, func(before, after *coordinationv1.Lease) {
		*told = append(*told, of(before)+">"+of(after))
	}), told
}

// However often and for however long its API server has failed, an object is seen soon after it
// is back, and so is what changes then: an informer would wait for half a minute and more.
func TestFollower_SeesSoonAfterAnAPIServerHasFailedForLong(t *testing.T) {
	for _, failing := range []string{"list", "watch"} {
		t.Run(failing, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// What tells of failures waits until a moment after the last one, and the first is at the
				// start of the program, by its clock and not by that of this test.
				utilruntime.HandleErrorWithContext(t.Context(), errors.New("none"), "A failure before the test begins")
				client := fake.NewClientset(lease("l", "1"))
				up := time.Now().Add(2 * time.Minute)
				down := func() bool { return time.Now().Before(up) }
				client.PrependReactor("list", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
					return failing == "list" && down(), nil, errors.New("no answer")
				})
				client.PrependWatchReactor("leases", func(clienttesting.Action) (bool, watch.Interface, error) {
					return failing == "watch" && down(), nil, errors.New("no answer")
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				f, told := telling(client)
				go f.Run(ctx)
				<-f.Listed()
				time.Sleep(time.Until(up.Add(2 * Retry)))
				synctest.Wait()
				leases := client.CoordinationV1().Leases("ns")
				if _, err := leases.Update(ctx, lease("l", "2"), metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if seen := f.Get("ns", "l"); seen == nil || seen.Labels["a"] != "2" {
					t.Errorf("it has %v", seen)
				}
				if err := leases.Delete(ctx, "l", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				cancel()
				synctest.Wait()
				last := (*told)[max(len(*told)-2, 0):]
				if want := []string{"l1>l2", "l2>none"}; !slices.Equal(last, want) || !f.HasListed() || f.Get("ns", "l") != nil {
					t.Errorf("it has told %v, want %v at the end", *told, want)
				}
			})
		})
	}
}

// What came, changed and went while nothing was followed is told when it is listed again.
func TestFollower_TellsOfWhatHasChangedMeanwhile(t *testing.T) {
	f, told := telling(fake.NewClientset())
	if f.HasListed() {
		t.Error("it has listed before it has begun")
	}
	for i, listed := range [][]any{{}, {lease("x", "1"), lease("y", "1")}, {lease("y", "2"), lease("z", "1")}, {}} {
		if err := (sink[*coordinationv1.Lease]{f}).Replace(listed, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(*told)
	if want := []string{"none>x1", "none>y1", "none>z1", "x1>none", "y1>y2", "y2>none", "z1>none"}; !slices.Equal(*told, want) {
		t.Errorf("it has told %v, want %v", *told, want)
	}
	if !f.HasListed() {
		t.Error("it has not listed")
	}
}

// Named and Labeled leave the other objects to the API server to leave out.
func TestNarrowing(t *testing.T) {
	var options metav1.ListOptions
	Named("l")(&options)
	Labeled("a=b")(&options)
	if options.FieldSelector != "metadata.name=l" || options.LabelSelector != "a=b" {
		t.Errorf("it asks for %+v", options)
	}
}
