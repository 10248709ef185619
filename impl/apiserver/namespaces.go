package apiserver

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/retry"
)

// systemNamespaces exist in every cluster.
var systemNamespaces = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}

const (
	// namespaceRequest is the timeout of one attempt to create one of them.
	namespaceRequest = 5 * time.Second
	// namespaceRetry and namespaceRetryMax bound the pause after a round of attempts.
	namespaceRetry    = 200 * time.Millisecond
	namespaceRetryMax = time.Minute
)

// namespaceCreator creates the system namespaces where they are missing. They are guarded writes
// like any other, so registration must be over.
type namespaceCreator struct {
	client   kubernetes.Interface
	clock    clock.WithTicker
	troubles *retry.Troubles
}

// run ends when all exist, or with the context: a server goes on to serve without a namespace
// that cannot be created, so there is no other bound. Each round tries all that are missing.
func (c namespaceCreator) run(ctx context.Context) {
	missing, pause := slices.Clone(systemNamespaces), namespaceRetry
	for {
		missing = slices.DeleteFunc(missing, func(name string) bool { return c.create(ctx, name) })
		if len(missing) == 0 {
			return
		}
		timer := c.clock.NewTimer(pause)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return
		}
		pause = min(2*pause, namespaceRetryMax)
	}
}

// create is one attempt, and whether the namespace exists afterwards.
func (c namespaceCreator) create(ctx context.Context, name string) bool {
	attempt, cancel := context.WithTimeout(ctx, namespaceRequest)
	defer cancel()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := c.client.CoreV1().Namespaces().Create(attempt, namespace, metav1.CreateOptions{})
	what := "creating namespace " + name
	switch {
	case err == nil || apierrors.IsAlreadyExists(err):
		c.troubles.Over(what)
		return true
	case ctx.Err() == nil:
		c.troubles.Failed(what, err)
		utilruntime.HandleError(fmt.Errorf("%s: %w", what, err))
	}
	return false
}
