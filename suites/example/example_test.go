package example

import (
	"context"
	"fmt"
	"slices"
	"testing"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/e2e-framework/klient/k8s"
	"sigs.k8s.io/e2e-framework/klient/wait/conditions"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"
	"sigs.k8s.io/e2e-framework/pkg/stepfuncs"
	"sigs.k8s.io/e2e-framework/support"

	"github.com/evenkeel/evenkeel/pkg/cluster/e2eframework"
)

// majority is the least number of members with which one of them may be stopped.
const majority = 3

// ballasts is the StorageVersion of a resource that the reference control plane
// stores in another version at each release.
const ballasts = "reference.evenkeel.dev.ballasts"

func TestStorageVersions(t *testing.T) {
	testenv.Test(t, features.New("storage versions").
		Assess("every member shows entries of all servers", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			for _, node := range nodes(t, 1) {
				awaitSettled(ctx, t, node.Name)
			}
			return ctx
		}).Feature())
}

func TestMemberAway(t *testing.T) {
	all := nodes(t, majority)
	away, rest := all[len(all)-1], all[:len(all)-1]
	var renewed metav1.MicroTime

	testenv.Test(t, features.New("member away").
		Setup(stepfuncs.PerformNodeOperation(support.StopNode, &away)).
		Assess("the others take writes and show them to each other", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			for _, writer := range rest {
				written := configMap(writer.Name)
				if err := clientOf(t, writer.Name).Resources().Create(ctx, written); err != nil {
					t.Fatalf("%s refuses a write while %s is away: %v", writer.Name, away.Name, err)
				}
				for _, reader := range rest {
					found := &corev1.ConfigMapList{Items: []corev1.ConfigMap{*configMap(writer.Name)}}
					await(ctx, t, conditions.New(clientOf(t, reader.Name).Resources()).ResourcesFound(found), func() string {
						return fmt.Sprintf("%s does not show what %s wrote", reader.Name, writer.Name)
					})
				}
			}
			return ctx
		}).
		Assess("its entries stay for as long as its Lease does", func(ctx context.Context, t *testing.T, config *envconf.Config) context.Context {
			for _, node := range rest {
				awaitSettled(ctx, t, node.Name)
			}
			lease := identityLease(t, away.Name)
			switch err := config.Client().Resources().Get(ctx, lease.Name, lease.Namespace, lease); {
			case err == nil:
				renewed = *lease.Spec.RenewTime
			case !apierrors.IsNotFound(err): // it may have expired on a slow machine
				t.Fatal(err)
			}
			return ctx
		}).
		Assess("it comes back", stepfuncs.PerformNodeOperation(support.StartNode, &away)).
		Assess("it takes part again", func(ctx context.Context, t *testing.T, config *envconf.Config) context.Context {
			// No other server renews this Lease, so a later time shows that the server renewed it.
			again := func(object k8s.Object) bool {
				now := object.(*coordinationv1.Lease).Spec.RenewTime
				return now != nil && now.After(renewed.Time)
			}
			await(ctx, t, conditions.New(config.Client().Resources()).ResourceMatch(identityLease(t, away.Name), again), func() string {
				return fmt.Sprintf("%s has not renewed its Lease since it came back", away.Name)
			})
			for _, node := range all {
				awaitSettled(ctx, t, node.Name)
			}
			return ctx
		}).
		Teardown(comeBack(&away)).Feature())
}

func TestMemberUpgraded(t *testing.T) {
	all := nodes(t, majority)
	node := all[len(all)-1]
	control, err := plane.ControlPlane()
	if err != nil {
		t.Fatal(err)
	}
	before, releases := control.Release(node.Name), control.Releases()
	next := slices.Index(releases, before) + 1
	if next == len(releases) {
		t.Skipf("%s is the last release that there is, so %s cannot be upgraded", before, node.Name)
	}
	server := serverOf(t, node.Name)

	testenv.Test(t, features.New("member upgraded").
		Setup(func(ctx context.Context, t *testing.T, config *envconf.Config) context.Context {
			sv := &apiserverinternalv1alpha1.StorageVersion{}
			if err := config.Client().Resources().Get(ctx, ballasts, "", sv); apierrors.IsNotFound(err) {
				t.Skipf("the control plane has no %s, of which it is known that upgrades change it", ballasts)
			} else if err != nil {
				t.Fatal(err)
			}
			return ctx
		}).
		Assess("it stops", stepfuncs.PerformNodeOperation(support.StopNode, &node)).
		Assess("it starts at the next release", stepfuncs.PerformNodeOperation(support.StartNode, &node, releases[next])).
		Assess("it stores another version, and none is agreed", func(ctx context.Context, t *testing.T, config *envconf.Config) context.Context {
			await(ctx, t, conditions.New(config.Client().Resources()).ResourceMatch(named(ballasts), func(object k8s.Object) bool {
				sv := object.(*apiserverinternalv1alpha1.StorageVersion)
				return sv.Status.CommonEncodingVersion == nil && standsAlone(sv, server)
			}), func() string { return fmt.Sprintf("%s does not show that %s was upgraded", ballasts, node.Name) })
			for _, node := range all {
				awaitSettled(ctx, t, node.Name)
			}
			return ctx
		}).
		Assess("it stops again", stepfuncs.PerformNodeOperation(support.StopNode, &node)).
		Assess("it starts at the release that it came from", stepfuncs.PerformNodeOperation(support.StartNode, &node, before)).
		Assess("all agree again", func(ctx context.Context, t *testing.T, config *envconf.Config) context.Context {
			await(ctx, t, conditions.New(config.Client().Resources()).ResourceMatch(named(ballasts), func(object k8s.Object) bool {
				return object.(*apiserverinternalv1alpha1.StorageVersion).Status.CommonEncodingVersion != nil
			}), func() string { return fmt.Sprintf("no version of %s is agreed", ballasts) })
			for _, node := range all {
				awaitSettled(ctx, t, node.Name)
			}
			return ctx
		}).
		Teardown(comeBack(&node, before)).Feature())
}

// comeBack starts a member that a failed feature has left stopped, so that the
// next one finds all of them.
func comeBack(node *support.Node, release ...string) features.Func {
	return func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		for _, now := range nodes(t, 1) {
			if now.Name != node.Name || now.State == e2eframework.NodeRunning {
				continue
			}
			if err := plane.StopNode(ctx, node); err != nil {
				t.Fatal(err)
			}
			if err := plane.StartNode(ctx, node, release...); err != nil {
				t.Fatal(err)
			}
		}
		return ctx
	}
}

// standsAlone is whether a server has an entry that names a version which no
// other server's does.
func standsAlone(sv *apiserverinternalv1alpha1.StorageVersion, server string) bool {
	servers := map[string][]string{}
	for _, entry := range sv.Status.StorageVersions {
		servers[entry.EncodingVersion] = append(servers[entry.EncodingVersion], entry.APIServerID)
	}
	for _, by := range servers {
		if slices.Equal(by, []string{server}) {
			return true
		}
	}
	return false
}

func identityLease(t *testing.T, member string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: serverOf(t, member), Namespace: identityNamespace}}
}

func configMap(writer string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "written-by-" + writer, Namespace: metav1.NamespaceDefault}}
}

func named(name string) *apiserverinternalv1alpha1.StorageVersion {
	return &apiserverinternalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
