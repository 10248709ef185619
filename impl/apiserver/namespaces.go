package apiserver

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// systemNamespaces exist in every cluster.
var systemNamespaces = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}

// namespaceRetry is the time between two attempts to create one of them.
const namespaceRetry = 200 * time.Millisecond

// createNamespaces creates the system namespaces where they are missing. They
// are guarded writes like any other, so registration must be over.
func createNamespaces(ctx context.Context, client kubernetes.Interface) {
	for _, name := range systemNamespaces {
		// The only error is that the server stops.
		_ = wait.PollUntilContextCancel(ctx, namespaceRetry, true, func(ctx context.Context) (bool, error) {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
			if err == nil || apierrors.IsAlreadyExists(err) {
				return true, nil
			}
			utilruntime.HandleError(fmt.Errorf("create namespace %s: %w", name, err))
			return false, nil
		})
	}
}
