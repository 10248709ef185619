//go:build linux

package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// Install creates all of the plan and returns when an agent runs on every control-plane node
// and check, which asks the agents themselves, is content. Where that fails it removes what it
// has created. An installation that is there already is replaced.
func Install(ctx context.Context, client kubernetes.Interface, plan Plan, check func(context.Context) error) (err error) {
	objects, err := plan.Objects()
	if err != nil {
		return err
	}
	if plan.Keys == nil {
		return errors.New("the plan has no keys")
	}
	defer func() {
		if err == nil {
			return
		}
		undoing, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoBound)
		defer cancel()
		if _, removeErr := Remove(undoing, client); removeErr != nil {
			err = fmt.Errorf("%w; and the installation could not be removed: %w", err, removeErr)
		}
	}()
	if err := create(ctx, client, objects); err != nil {
		return err
	}
	if err := awaitReady(ctx, client); err != nil {
		return err
	}
	return check(ctx)
}

// create creates the objects, or makes those that are there what they are to be.
func create(ctx context.Context, client kubernetes.Interface, objects *Objects) error {
	if err := createNamespace(ctx, client, objects.Namespace); err != nil {
		return err
	}
	core := client.CoreV1()
	if _, err := put(ctx, core.ServiceAccounts(Name), objects.ServiceAccount); err != nil {
		return explain("the ServiceAccount", err)
	}
	// The namespace may enforce a level that allows no such Pod, which a DaemonSet would only
	// show in events.
	pod := &corev1.Pod{ObjectMeta: *objects.DaemonSet.Spec.Template.ObjectMeta.DeepCopy(), Spec: objects.DaemonSet.Spec.Template.Spec}
	pod.Name, pod.Namespace = Name+"-review", Name
	if _, err := core.Pods(Name).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		return explain("Pods", err)
	}
	if _, err := put(ctx, core.ConfigMaps(Name), objects.ConfigMap); err != nil {
		return explain("the ConfigMap", err)
	}
	if _, err := put(ctx, core.Secrets(Name), objects.Secret); err != nil {
		return explain("the Secret", err)
	}
	if _, err := put(ctx, client.AppsV1().DaemonSets(Name), objects.DaemonSet); err != nil {
		return explain("the DaemonSet", err)
	}
	return nil
}

// explain says which object was refused, and where that is Pod Security's doing what to do.
func explain(what string, err error) error {
	if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "PodSecurity") {
		return fmt.Errorf("the namespace %s does not allow the agent's %s, which share the node's processes, network and files: remove the namespace and let `evenkeel agent install` create it, or label it %s=privileged: %w",
			Name, what, enforceLabel, err)
	}
	return fmt.Errorf("create %s of the agent: %w", what, err)
}

// createNamespace creates the namespace. One that is there is its owner's, and stays as it is.
func createNamespace(ctx context.Context, client kubernetes.Interface, namespace *corev1.Namespace) error {
	_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return explain("the namespace", err)
}

// creator is what creates and updates objects of one type.
type creator[T any] interface {
	Create(ctx context.Context, object T, options metav1.CreateOptions) (T, error)
	Update(ctx context.Context, object T, options metav1.UpdateOptions) (T, error)
}

// put creates an object, or updates the one that is there.
func put[T any](ctx context.Context, client creator[T], object T) (T, error) {
	made, err := client.Create(ctx, object, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return client.Update(ctx, object, metav1.UpdateOptions{})
	}
	return made, err
}

// awaitReady waits until every node that is to have an agent has a new one that runs.
func awaitReady(ctx context.Context, client kubernetes.Interface) error {
	bounded, cancel := context.WithTimeout(ctx, readyBound)
	defer cancel()
	var last *appsv1.DaemonSet
	err := wait.PollUntilContextCancel(bounded, poll, true, func(ctx context.Context) (bool, error) {
		set, err := client.AppsV1().DaemonSets(Name).Get(ctx, Name, metav1.GetOptions{})
		if err != nil {
			return false, nil //nolint:nilerr // an API server may be away for a moment; the bound ends that
		}
		last = set
		return runs(set), nil
	})
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if last == nil {
		return fmt.Errorf("no API server has told within %s whether the agents run", readyBound)
	}
	if last.Status.DesiredNumberScheduled == 0 {
		return fmt.Errorf("no node has the label %s, so that no agent runs: label the control-plane nodes", controlPlaneLabel)
	}
	return fmt.Errorf("agents run on %d of %d control-plane nodes after %s: %s", last.Status.NumberReady, last.Status.DesiredNumberScheduled, readyBound, obstacles(ctx, client))
}

func runs(set *appsv1.DaemonSet) bool {
	s := set.Status
	return s.ObservedGeneration >= set.Generation && s.DesiredNumberScheduled > 0 &&
		s.UpdatedNumberScheduled == s.DesiredNumberScheduled && s.NumberReady == s.DesiredNumberScheduled
}

// obstacles says in a few words why agents do not run.
func obstacles(ctx context.Context, client kubernetes.Interface) string {
	var found []string
	note := func(text string) {
		if text != "" && !slices.Contains(found, text) {
			found = append(found, text)
		}
	}
	if pods, err := client.CoreV1().Pods(Name).List(ctx, metav1.ListOptions{LabelSelector: nameLabel + "=" + Name}); err == nil {
		for i := range pods.Items {
			for _, status := range pods.Items[i].Status.ContainerStatuses {
				if waiting := status.State.Waiting; waiting != nil {
					note(strings.TrimSpace(waiting.Reason + " " + waiting.Message))
				}
			}
		}
	}
	if events, err := client.CoreV1().Events(Name).List(ctx, metav1.ListOptions{}); err == nil {
		for i := range events.Items {
			if events.Items[i].Type == corev1.EventTypeWarning {
				note(events.Items[i].Message)
			}
		}
	}
	if len(found) == 0 {
		return "nothing tells why"
	}
	return strings.Join(found, "; ")
}
