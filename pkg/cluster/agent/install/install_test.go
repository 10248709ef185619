//go:build linux

package install

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// api is a cluster with control-plane nodes on which agents run at once, if they may.
func api(nodes int32, refused error, objects ...runtime.Object) *fake.Clientset {
	client := fake.NewClientset(objects...)
	client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.Pod{}, refused // a dry run
	})
	client.PrependReactor("*", "daemonsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if put, ok := action.(clienttesting.UpdateAction); ok && (action.GetVerb() == "create" || action.GetVerb() == "update") {
			put.GetObject().(*appsv1.DaemonSet).Status = appsv1.DaemonSetStatus{DesiredNumberScheduled: nodes, UpdatedNumberScheduled: nodes, NumberReady: nodes}
		}
		return false, nil, nil
	})
	return client
}

// left are the objects of an installation that are there.
func left(t *testing.T, client *fake.Clientset) (all []string) {
	t.Helper()
	ctx, get := t.Context(), metav1.GetOptions{}
	_, namespace := client.CoreV1().Namespaces().Get(ctx, Name, get)
	_, account := client.CoreV1().ServiceAccounts(Name).Get(ctx, Name, get)
	_, config := client.CoreV1().ConfigMaps(Name).Get(ctx, Name, get)
	_, secret := client.CoreV1().Secrets(Name).Get(ctx, Name, get)
	_, set := client.AppsV1().DaemonSets(Name).Get(ctx, Name, get)
	for _, one := range []struct {
		what string
		err  error
	}{{"namespace", namespace}, {"account", account}, {"config", config}, {"secret", secret}, {"set", set}} {
		if one.err == nil {
			all = append(all, one.what)
		} else if !apierrors.IsNotFound(one.err) {
			t.Fatal(one.err)
		}
	}
	return all
}

func withKeys(t *testing.T) Plan {
	t.Helper()
	plan := planned(t, cluster.RungLook)
	keys, err := MakeKeys(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plan.Keys = keys
	return plan
}

func content(context.Context) error { return nil }

func TestInstall_CreatesAllAndRemoveDeletesAll(t *testing.T) {
	client := api(3, nil)
	checked := 0
	for range 2 { // also over an installation that is there
		if err := Install(t.Context(), client, withKeys(t), func(context.Context) error { checked++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if got := left(t, client); len(got) != 5 || checked != 2 {
		t.Errorf("there are %v after %d checks", got, checked)
	}
	for _, want := range []bool{true, false} {
		if found, err := Remove(t.Context(), client); err != nil || found != want {
			t.Errorf("%t, %v", found, err)
		}
	}
	if got := left(t, client); len(got) != 0 {
		t.Errorf("there are %v", got)
	}
}

func TestInstall_LeavesNothingWhereItIsRefused(t *testing.T) {
	violates := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, Name, errors.New(`violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true, hostPID=true)`))
	restricted := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Name, Labels: map[string]string{enforceLabel: "restricted"}}}
	for _, tc := range []struct {
		name   string
		client *fake.Clientset
		want   string
		left   []string
		check  func(context.Context) error
	}{
		{"by Pod Security", api(3, violates), "the namespace evenkeel-agent does not allow the agent's Pods", nil, content},
		{"in a restricted namespace of others", api(3, violates, restricted), "label it pod-security.kubernetes.io/enforce=privileged", []string{"namespace"}, content},
		{"by a policy", api(3, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, Name, errors.New("no host paths"))), "create Pods of the agent: ", nil, content},
		{"by the check", api(3, nil), "the agent of cp2 does not answer", nil, func(context.Context) error { return errors.New("the agent of cp2 does not answer") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := Install(t.Context(), tc.client, withKeys(t), tc.check)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want one sentence with %q", err, tc.want)
			}
			if got := left(t, tc.client); !slices.Equal(got, tc.left) {
				t.Errorf("there are %v, want %v", got, tc.left)
			}
			if namespace, err := tc.client.CoreV1().Namespaces().Get(t.Context(), Name, metav1.GetOptions{}); err == nil && namespace.Labels[enforceLabel] != "restricted" {
				t.Errorf("the namespace of others is %v", namespace.Labels)
			}
		})
	}
}

func TestInstall_TellsWhyAgentsDoNotRun(t *testing.T) {
	waiting := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "evenkeel-agent-x", Namespace: Name, Labels: labels()},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"},
		}}}},
	}
	for want, client := range map[string]*fake.Clientset{
		"no node has the label node-role.kubernetes.io/control-plane": api(0, nil),
		"ErrImagePull no such image":                                  unready(api(3, nil, waiting)),
	} {
		plan := withKeys(t)
		synctest.Test(t, func(t *testing.T) {
			err := Install(t.Context(), client, plan, content)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
		if got := left(t, client); len(got) != 0 {
			t.Errorf("there are %v", got)
		}
	}
}

// unready has agents of the cluster never be ready.
func unready(client *fake.Clientset) *fake.Clientset {
	client.PrependReactor("get", "daemonsets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		object, err := client.Tracker().Get(action.GetResource(), action.GetNamespace(), Name)
		if err != nil {
			return true, nil, err
		}
		set := object.(*appsv1.DaemonSet)
		set.Status.NumberReady = 1
		return true, set, nil
	})
	return client
}
