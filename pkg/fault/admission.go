package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/strictyaml"
)

// admissionFile is what a file says of an AdmissionFault, which is no Chaos Mesh
// object.
type admissionFile struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		// Member is a selector, or StepMember: through whose API server the policy is
		// made. It is for all members' API servers.
		Member string `json:"member"`
		Denial
	} `json:"spec"`
}

// Denial is which writes API servers deny. Reads cannot be denied so.
type Denial struct {
	// Operations are CREATE, UPDATE or DELETE.
	Operations []admissionv1.OperationType `json:"operations"`
	// Group, in any of its versions, and Resource.
	Group    string `json:"group"`
	Resource string `json:"resource"`
	// Namespace and Name of the object; empty means any.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Users whose writes are denied; empty means all users.
	Users []string `json:"users"`
}

// None is whether nothing is denied.
func (d *Denial) None() bool { return d.Resource == "" }

func parseAdmission(file string, raw []byte) (*Fault, error) {
	var f admissionFile
	if err := strictyaml.DecodeJSON(file, raw, &f); err != nil {
		return nil, err
	}
	errs := []error{f.Spec.validate()}
	if f.APIVersion != keysVersion {
		errs = append(errs, fmt.Errorf("apiVersion is %q, and must be %q", f.APIVersion, keysVersion))
	}
	if f.Metadata.Name == "" {
		errs = append(errs, errors.New("metadata.name is missing"))
	}
	if f.Spec.Member == "" {
		errs = append(errs, fmt.Errorf("spec.member must be %q, or a member", StepMember))
	}
	return &Fault{
		Name: f.Metadata.Name, Type: TypeAdmission, Action: history.FaultAdmissionDeny, Member: f.Spec.Member, One: true,
		Components: []cluster.Component{cluster.APIServer}, Deny: f.Spec.Denial,
	}, errors.Join(errs...)
}

var operations = []admissionv1.OperationType{admissionv1.Create, admissionv1.Update, admissionv1.Delete}

func (d *Denial) validate() error {
	var errs []error
	if d.Resource == "" || strings.Contains(d.Resource, "/") {
		errs = append(errs, fmt.Errorf("spec.resource %q must be a resource, and no subresource", d.Resource))
	}
	if len(d.Operations) == 0 {
		errs = append(errs, errors.New("spec.operations is missing"))
	}
	for _, operation := range d.Operations {
		if !slices.Contains(operations, operation) {
			errs = append(errs, fmt.Errorf("spec.operations has %q; there are: %v", operation, operations))
		}
	}
	return errors.Join(errs...)
}

// prefixes are those of the keys in etcd that denied writes are about, where checks
// ask for that, which they do of Leases; nil elsewhere.
func (d *Denial) prefixes() []string {
	if d.Group != "coordination.k8s.io" || d.Resource != "leases" {
		return nil
	}
	prefix := "/registry/leases/"
	if d.Namespace != "" {
		prefix += d.Namespace + "/" + d.Name
	}
	return []string{prefix}
}

// The names of a policy and of what belongs to it.
const (
	policyPrefix  = "evenkeel-"
	managedBy     = "app.kubernetes.io/managed-by"
	managedByThis = "evenkeel"
)

// policy is what has API servers deny the writes. They also deny a ConfigMap of the
// policy's name that is only tried, which shows whether they know of it yet.
func (d *Denial) policy(name string) *admissionv1.ValidatingAdmissionPolicy {
	rule := func(group, resource string, operations ...admissionv1.OperationType) admissionv1.NamedRuleWithOperations {
		return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: operations,
			Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resource}},
		}}
	}
	ignore := admissionv1.Ignore // whatever else is written is none of its business
	forbidden := metav1.StatusReasonForbidden
	return &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{managedBy: managedByThis}},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &ignore,
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{
				rule(d.Group, d.Resource, d.Operations...), rule("", "configmaps", admissionv1.Create),
			}},
			Validations: []admissionv1.Validation{{
				Expression: fmt.Sprintf("!(%s) && !(%s)", d.meant(), tried(name)),
				Message:    "a fault that Evenkeel injects denies it",
				Reason:     &forbidden,
			}},
		},
	}
}

func binding(name string) *admissionv1.ValidatingAdmissionPolicyBinding {
	return &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{managedBy: managedByThis}},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
}

// meant is the CEL expression for the requests that the policy denies.
func (d *Denial) meant() string {
	terms := []string{equals("request.resource.group", d.Group), equals("request.resource.resource", d.Resource)}
	if d.Namespace != "" {
		terms = append(terms, "has(request.namespace)", equals("request.namespace", d.Namespace))
	}
	if d.Name != "" {
		terms = append(terms, equals("request.name", d.Name))
	}
	if len(d.Users) > 0 {
		var users []string
		for _, user := range d.Users {
			users = append(users, strconv.Quote(user))
		}
		terms = append(terms, "request.userInfo.username in ["+strings.Join(users, ", ")+"]")
	}
	return strings.Join(terms, " && ")
}

// tried is the CEL expression for the request by which the harness tries the policy out.
func tried(name string) string {
	return `request.resource.group == "" && request.resource.resource == "configmaps" && has(request.dryRun) && request.dryRun && ` +
		equals("request.name", name)
}

func equals(term, value string) string { return term + " == " + strconv.Quote(value) }

// Policies has API servers deny writes, by ValidatingAdmissionPolicies.
type Policies interface {
	// Deny creates the policy and its binding, and replaces a leftover one of the same name.
	// The error wraps cluster.ErrUnsupported if the control plane has no such policies.
	Deny(ctx context.Context, member string, policy *admissionv1.ValidatingAdmissionPolicy, binding *admissionv1.ValidatingAdmissionPolicyBinding) error
	// Allow deletes the policy. It is no error if there is none.
	Allow(ctx context.Context, member, policy string) error
	// Denies returns whether the member's API server enforces the policy: it denies the
	// request by which the harness tries the policy out.
	Denies(ctx context.Context, member, policy string) (bool, error)
	// Denied is how many requests the member's API server has denied by the policy
	// since it was started, by its own metrics.
	Denied(ctx context.Context, member, policy string) (int64, error)
}

func (e *Executor) policies() (Policies, error) {
	if policies, ok := e.api.(Policies); ok {
		return policies, nil
	}
	return nil, fmt.Errorf("policies cannot be made: %w", cluster.ErrUnsupported)
}

func (a *Active) policyName() string { return policyPrefix + a.Fault.Name }

// deny begins to deny writes, and waits until all running API servers do so. Its witness
// exists only once an API server has denied a write: see witnessDenied.
func (a *Active) deny(ctx context.Context) error {
	policies, err := a.executor.policies()
	if err != nil {
		return err
	}
	name := a.policyName()
	a.record(history.PhaseInject, "")
	if err := policies.Deny(ctx, a.Member, a.Fault.Deny.policy(name), binding(name)); err != nil {
		return err
	}
	if err := a.awaitPolicy(ctx, true); err != nil {
		return err
	}
	a.deniedBefore = map[string]int64{}
	for _, member := range a.executor.running() {
		if a.deniedBefore[member], err = policies.Denied(ctx, member, name); err != nil {
			return err
		}
	}
	return nil
}

// running are the members whose API servers run.
func (e *Executor) running() []string {
	var out []string
	for _, member := range e.cluster.Members() {
		if _, runs := e.cluster.Process(member.Name, cluster.APIServer); runs {
			out = append(out, member.Name)
		}
	}
	return out
}

// awaitPolicy waits until all API servers that run deny what is tried, or none does.
func (a *Active) awaitPolicy(ctx context.Context, denies bool) error {
	policies, err := a.executor.policies()
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, PolicyTimeout, fmt.Errorf("that took longer than %s", PolicyTimeout))
	defer cancel()
	for _, member := range a.executor.running() {
		for {
			does, err := policies.Denies(bounded, member, a.policyName())
			if err == nil && does == denies {
				break
			}
			timer := a.executor.clock.NewTimer(PolicyInterval)
			select {
			case <-timer.C():
			case <-bounded.Done():
				timer.Stop()
				return errors.Join(fmt.Errorf("waiting for the API server of %s to notice the policy %s: %w", member, a.policyName(), context.Cause(bounded)), err)
			}
		}
	}
	return nil
}

// witnessDenied records that writes were denied, if any were: those that are tried are
// over before that is counted.
func (a *Active) witnessDenied(ctx context.Context) {
	policies, err := a.executor.policies()
	if err != nil || a.deniedBefore == nil {
		return
	}
	var total int64
	for _, member := range a.executor.running() {
		now, err := policies.Denied(ctx, member, a.policyName())
		if err != nil {
			continue
		}
		if before := a.deniedBefore[member]; now >= before {
			now -= before
		}
		total += now // of a server that was started meanwhile all that it counts
	}
	if total > 0 {
		a.tell(history.PhaseWitness, total, fmt.Sprintf("by their own count, the API servers denied %d writes by the policy %s", total, a.policyName()))
	}
}
