//go:build linux

package kind

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// awaitMirror waits until the kubelet of a member has told the API server that the API
// server's own static Pod runs, and has since a time. Before it has heard from an API
// server which Pods it has there, a kubelet finishes none that was taken away, and starts
// none of the same name. Those here ask the API server of their own node: if that was
// stopped too early, its kubelet would wait for it for ever, and never start it again.
func (c *kindCluster) awaitMirror(ctx context.Context, m *member, since time.Time) error {
	client, err := kubernetes.NewForConfig(c.clientOf(local(m.apiserver)))
	if err != nil {
		return fmt.Errorf("awaiting the kubelet of member %s: %w", m.name, err)
	}
	name := fmt.Sprintf("kube-%s-%s", cluster.APIServer, m.host)
	last := errors.New("no server was asked")
	err = wait.PollUntilContextTimeout(ctx, readyPoll, mirrorBound, true, func(ctx context.Context) (bool, error) {
		asked, cancel := context.WithTimeout(ctx, probeBound)
		defer cancel()
		pod, err := client.CoreV1().Pods(metav1.NamespaceSystem).Get(asked, name, metav1.GetOptions{})
		if err == nil {
			err = mirrors(pod, since)
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	if err == nil {
		return nil
	}
	c.keepKubeletLog(m)
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("waiting for the kubelet of member %s was given up: %w", m.name, cause)
	}
	return fmt.Errorf("the kubelet of member %s has not told within %s that %s runs: %w", m.name, mirrorBound, name, last)
}

// mirrors is whether a mirror Pod says that its container runs since a time. Those times
// are in whole seconds.
func mirrors(pod *corev1.Pod, since time.Time) error {
	if len(pod.Status.ContainerStatuses) != 1 {
		return errors.New("its status names no container")
	}
	switch running := pod.Status.ContainerStatuses[0].State.Running; {
	case running == nil:
		return errors.New("its container is said not to run")
	case running.StartedAt.Time.Before(since.Truncate(time.Second)):
		return fmt.Errorf("its container is said to run since %s", running.StartedAt.UTC().Format(time.RFC3339))
	}
	return nil
}
