//go:build linux

package install

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// Remove deletes all of an installation and returns when it is gone. It is false where there
// was none. A namespace that Install did not create stays.
func Remove(ctx context.Context, client kubernetes.Interface) (found bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, goneBound, fmt.Errorf("it was not gone within %s", goneBound))
	defer cancel()
	core, apps := client.CoreV1(), client.AppsV1()
	namespace, err := core.Namespaces().Get(ctx, Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the agent: %w", err)
	}
	own := namespace.Labels[managedByLabel] == labels()[managedByLabel]
	// The agents go first, with the keys still there: each takes back what it did.
	foreground := metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}
	deletions := []struct {
		what   string
		remove func(context.Context, string, metav1.DeleteOptions) error
		there  func(context.Context) error
	}{
		{"DaemonSet", apps.DaemonSets(Name).Delete, func(ctx context.Context) error {
			_, err := apps.DaemonSets(Name).Get(ctx, Name, metav1.GetOptions{})
			return err
		}},
		{"Secret", core.Secrets(Name).Delete, func(ctx context.Context) error {
			_, err := core.Secrets(Name).Get(ctx, Name, metav1.GetOptions{})
			return err
		}},
		{"ConfigMap", core.ConfigMaps(Name).Delete, func(ctx context.Context) error {
			_, err := core.ConfigMaps(Name).Get(ctx, Name, metav1.GetOptions{})
			return err
		}},
		{"ServiceAccount", core.ServiceAccounts(Name).Delete, func(ctx context.Context) error {
			_, err := core.ServiceAccounts(Name).Get(ctx, Name, metav1.GetOptions{})
			return err
		}},
		{"namespace", core.Namespaces().Delete, func(ctx context.Context) error {
			_, err := core.Namespaces().Get(ctx, Name, metav1.GetOptions{})
			return err
		}},
	}
	if !own {
		deletions = deletions[:len(deletions)-1]
	}
	for _, one := range deletions {
		err := one.remove(ctx, Name, foreground)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return true, fmt.Errorf("delete the %s %s: %w", one.what, Name, err)
		}
		found = true
		if err := awaitGone(ctx, one.there); err != nil {
			return true, fmt.Errorf("delete the %s %s: %w", one.what, Name, err)
		}
	}
	return found, nil
}

// awaitGone waits until what is asked for is not found.
func awaitGone(ctx context.Context, there func(context.Context) error) error {
	last := errors.New("it is still there")
	err := wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		err := there(ctx)
		if err != nil && !apierrors.IsNotFound(err) {
			last = err
		}
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		return errors.Join(context.Cause(ctx), last)
	}
	return nil
}
