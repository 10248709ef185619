package fault

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	admission "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	core "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// deniedCounter counts what API servers have checked by policies.
const deniedCounter = "apiserver_validating_admission_policy_check_total"

// triedNamespace is where the object that is tried would be; every control plane has
// it.
const triedNamespace = metav1.NamespaceDefault

func (a *directAPI) admission(member string) (admission.AdmissionregistrationV1Interface, error) {
	c, err := a.client(member)
	if err != nil {
		return nil, err
	}
	return admission.NewForConfigAndClient(c.config, c.http)
}

// Deny implements Policies.
func (a *directAPI) Deny(ctx context.Context, member string, policy *admissionv1.ValidatingAdmissionPolicy, binding *admissionv1.ValidatingAdmissionPolicyBinding) error {
	if err := a.Allow(ctx, member, policy.Name); err != nil {
		return err
	}
	client, err := a.admission(member)
	if err != nil {
		return err
	}
	if _, err := client.ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); apierrors.IsNotFound(err) {
		return fmt.Errorf("%s does not serve ValidatingAdmissionPolicies: %w", member, cluster.ErrUnsupported)
	} else if err != nil {
		return fmt.Errorf("make the policy %s: %w", policy.Name, err)
	}
	if _, err := client.ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("bind the policy %s: %w", policy.Name, err)
	}
	return nil
}

// Allow implements Policies.
func (a *directAPI) Allow(ctx context.Context, member, policy string) error {
	client, err := a.admission(member)
	if err != nil {
		return err
	}
	if err := client.ValidatingAdmissionPolicyBindings().Delete(ctx, policy, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the binding of the policy %s: %w", policy, err)
	}
	if err := client.ValidatingAdmissionPolicies().Delete(ctx, policy, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the policy %s: %w", policy, err)
	}
	return nil
}

// Denies implements Policies.
func (a *directAPI) Denies(ctx context.Context, member, policy string) (bool, error) {
	c, err := a.client(member)
	if err != nil {
		return false, err
	}
	client, err := core.NewForConfigAndClient(c.config, c.http)
	if err != nil {
		return false, err
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: policy}}
	_, err = client.ConfigMaps(triedNamespace).Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if apierrors.IsForbidden(err) {
		return true, nil
	}
	return false, err
}

// Denied implements Policies.
func (a *directAPI) Denied(ctx context.Context, member, policy string) (int64, error) {
	c, err := a.client(member)
	if err != nil {
		return 0, err
	}
	client, err := core.NewForConfigAndClient(c.config, c.http)
	if err != nil {
		return 0, err
	}
	text, err := client.RESTClient().Get().AbsPath(history.MetricsPath).Do(ctx).Raw()
	if err != nil {
		return 0, fmt.Errorf("read the metrics of %s: %w", member, err)
	}
	return observe.Counted(text, deniedCounter, map[string]string{"policy": policy, "enforcement_action": "deny"}), nil
}
