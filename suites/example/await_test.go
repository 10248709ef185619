package example

import (
	"context"
	"fmt"
	"testing"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apimachinerywait "k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/e2e-framework/klient"
	"sigs.k8s.io/e2e-framework/klient/k8s/resources"
	"sigs.k8s.io/e2e-framework/klient/wait"
	"sigs.k8s.io/e2e-framework/support"
)

const (
	// awaitBound is how long a condition may take to become true. Most take a second or
	// two. The removal of an entry waits until the server's identity Lease has expired:
	// 40 s in the shipped topologies, and more on a busy machine.
	awaitBound = 2 * time.Minute
	// awaitPoll is the pause between two polls.
	awaitPoll = 100 * time.Millisecond

	// The Leases by which API servers tell that they take part.
	identityNamespace = "kube-system"
	identitySelector  = "apiserver.kubernetes.io/identity=kube-apiserver"
)

// await waits until a condition holds. If it does not, the test fails with the reason.
func await(ctx context.Context, t *testing.T, condition apimachinerywait.ConditionWithContextFunc, why func() string) {
	t.Helper()
	err := wait.For(condition, wait.WithContext(ctx), wait.WithTimeout(awaitBound), wait.WithInterval(awaitPoll), wait.WithImmediate())
	if err != nil {
		t.Fatalf("%s: %v", why(), err)
	}
}

// awaitSettled waits until every StorageVersion, as one member serves it, matches
// the servers that have an identity Lease. It lists these each time, because the
// Lease of a stopped server expires.
func awaitSettled(ctx context.Context, t *testing.T, member string) {
	t.Helper()
	client := clientOf(t, member)
	last := "nothing was answered"
	await(ctx, t, func(ctx context.Context) (bool, error) {
		now := unsettled(ctx, client)
		// A request that the end of the wait canceled says nothing about the condition.
		if ctx.Err() == nil {
			last = now
		}
		return now == "", nil
	}, func() string { return fmt.Sprintf("the storage versions at %s have not settled: %s", member, last) })
}

func unsettled(ctx context.Context, client klient.Client) string {
	var versions apiserverinternalv1alpha1.StorageVersionList
	if err := client.Resources().List(ctx, &versions); err != nil {
		return err.Error()
	}
	var leases coordinationv1.LeaseList
	if err := client.Resources(identityNamespace).List(ctx, &leases, resources.WithLabelSelector(identitySelector)); err != nil {
		return err.Error()
	}
	if len(versions.Items) == 0 || len(leases.Items) == 0 {
		return fmt.Sprintf("there are %d StorageVersions of %d servers", len(versions.Items), len(leases.Items))
	}
	var servers []string
	for _, lease := range leases.Items {
		servers = append(servers, lease.Name)
	}
	for i := range versions.Items {
		if why := broken(&versions.Items[i], servers); why != "" {
			return why
		}
	}
	return ""
}

// clientOf reaches the API server of one member.
func clientOf(t *testing.T, member string) klient.Client {
	t.Helper()
	client, err := plane.Client(member)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// nodes returns the members. A majority must remain when one of them is stopped.
func nodes(t *testing.T, least int) []support.Node {
	t.Helper()
	listed, err := plane.ListNode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(listed) < least {
		t.Skipf("the topology has %d members, and %d are needed", len(listed), least)
	}
	return listed
}

// serverOf is the identity of a member's API server.
func serverOf(t *testing.T, member string) string {
	t.Helper()
	control, err := plane.ControlPlane()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range control.Members() {
		if one.Name == member {
			return one.ServerID
		}
	}
	t.Fatalf("there is no member %s", member)
	return ""
}
