package apiserver

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keeps is what keeps a namespace that is being deleted.
type keeps struct {
	// undiscovered are the group-versions of which it is not known what they host; failing the
	// resources that cannot be listed or deleted; remaining those of which objects still exist.
	undiscovered, failing, remaining []string
}

// conditions are those that Kubernetes' namespace controller writes. Messages name resources and not
// errors, so that servers which meet different errors do not overwrite each other's.
func (k keeps) conditions(now time.Time) []corev1.NamespaceCondition {
	one := func(kind corev1.NamespaceConditionType, reason, fine, message string, what []string) corev1.NamespaceCondition {
		condition := corev1.NamespaceCondition{Type: kind, Status: corev1.ConditionFalse, Reason: fine, Message: "None.", LastTransitionTime: metav1.NewTime(now)}
		if len(what) > 0 {
			slices.Sort(what)
			condition.Status, condition.Reason, condition.Message = corev1.ConditionTrue, reason, message+": "+strings.Join(what, ", ")
		}
		return condition
	}
	return []corev1.NamespaceCondition{
		one(corev1.NamespaceDeletionDiscoveryFailure, "DiscoveryFailed", "ResourcesDiscovered", "It is not known what these group-versions host", k.undiscovered),
		one(corev1.NamespaceDeletionContentFailure, "ContentDeletionFailed", "ContentDeleted", "These resources cannot be listed or deleted", k.failing),
		one(corev1.NamespaceContentRemaining, "SomeResourcesRemain", "ContentRemoved", "Objects of these resources still exist", k.remaining),
	}
}

// tell writes what keeps a namespace into its conditions, if that has changed.
func (e *emptier) tell(ctx context.Context, namespace *corev1.Namespace, left keeps) error {
	changed := false
	namespace = namespace.DeepCopy()
	for _, condition := range left.conditions(e.clock.Now()) {
		at := slices.IndexFunc(namespace.Status.Conditions, func(c corev1.NamespaceCondition) bool { return c.Type == condition.Type })
		if at < 0 {
			namespace.Status.Conditions, changed = append(namespace.Status.Conditions, condition), true
			continue
		}
		before := namespace.Status.Conditions[at]
		if before.Status == condition.Status {
			condition.LastTransitionTime = before.LastTransitionTime
		}
		if before.Status != condition.Status || before.Message != condition.Message {
			namespace.Status.Conditions[at], changed = condition, true
		}
	}
	if !changed {
		return nil
	}
	_, err := e.client.CoreV1().Namespaces().Update(ctx, namespace, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil // The next attempt reads what another server has written.
	}
	return err
}
