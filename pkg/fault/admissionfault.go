package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// TypeAdmission has the API servers deny writes, so it needs no access to nodes.
const TypeAdmission = history.FaultAdmission

var _ = Register(Kind{
	Type: TypeAdmission, APIVersion: ownVersion, Parse: reading(fromAdmissionFile),
	Doc: "Has all API servers deny writes by a ValidatingAdmissionPolicy, which takes no more than the permissions of an administrator. Chaos Mesh has no kind for this.",
	Actions: []Action{{
		Name: history.FaultAdmissionDeny, Doc: "Denies writes, by resource, name and user. It is in effect when all API servers that run have noticed the policy.",
		Witness: "the API servers' own metric counts the requests that they denied by the policy",
		Cost:    4 * time.Second,
		Parameters: []registry.Parameter{
			{Name: "operations", Path: []string{"spec", "operations"}, Doc: "are denied", Domain: registry.OneOf(operations...).List(1, len(operations))},
			{Name: "group", Path: []string{"spec", "group"}, Optional: true, Doc: "is the group of the resource, in any version; the default is the core group",
				Domain: registry.AnyText(groups()...)},
			{Name: "resource", Path: []string{"spec", "resource"}, Doc: "is the resource whose writes are denied, and no subresource",
				Domain: registry.AnyText(resources()...)},
			{Name: "namespace", Path: []string{"spec", "namespace"}, Optional: true, Doc: "is that of the object; the default is any", Domain: registry.AnyText("kube-system")},
			{Name: "name", Path: []string{"spec", "name"}, Optional: true, Doc: "is that of the object; the default is any", Domain: registry.AnyText("kube-controller-manager", "kube-scheduler")},
			{Name: "users", Path: []string{"spec", "users"}, Optional: true, Doc: "are the users whose writes are denied; the default is all",
				Domain: registry.AnyText("system:kube-controller-manager", "system:apiserver").List(1, 4)},
			{Name: "member", Path: []string{"spec", "member"}, Optional: true, Domain: memberDomain, Doc: "is the member through whose API server the policy is made"},
		},
		Settle: settleDenial,
		Object: func(registry.Values) map[string]any {
			return map[string]any{"spec": map[string]any{"member": StepMember}}
		},
	}},
})

// deniable are resources whose writes are worth denying. Of each but the core one the group must be
// given, and of those that are in kube-system the namespace can be.
var deniable = []struct {
	group, resource string
	namespaced      bool
}{
	{"coordination.k8s.io", leases, true}, {"coordination.k8s.io", "leasecandidates", true},
	{"internal.apiserver.k8s.io", "storageversions", false}, {"storagemigration.k8s.io", "storageversionmigrations", false},
	{"apiextensions.k8s.io", "customresourcedefinitions", false}, {"", "configmaps", false},
}

// leases are the only ones of them that have names which are the same in every run.
const leases = "leases"

func groups() (out []string) {
	for _, one := range deniable {
		if one.group != "" && !slices.Contains(out, one.group) {
			out = append(out, one.group)
		}
	}
	return out
}

func resources() (out []string) {
	for _, one := range deniable {
		out = append(out, one.resource)
	}
	return out
}

// settleDenial gives the resource its group, and only what objects of it can have.
func settleDenial(values registry.Values) {
	for _, one := range deniable {
		if one.resource != values["resource"] {
			continue
		}
		delete(values, "group")
		if one.group != "" {
			values["group"] = one.group
		}
		if !one.namespaced {
			delete(values, "namespace")
		}
		if one.resource != leases {
			delete(values, "name")
		}
	}
}

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

func fromAdmissionFile(f *admissionFile) (*Fault, error) {
	errs := []error{f.Spec.validate()}
	if f.Metadata.Name == "" {
		errs = append(errs, errors.New("metadata.name is missing"))
	}
	if f.Spec.Member == "" {
		errs = append(errs, fmt.Errorf("spec.member must be %q, or a member", StepMember))
	}
	return &Fault{
		Name: f.Metadata.Name, Type: TypeAdmission, Action: history.FaultAdmissionDeny, Member: f.Spec.Member, One: true,
		Components: []cluster.Component{cluster.APIServer}, Prefixes: f.Spec.prefixes(), Effect: &f.Spec.Denial,
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

// Does implements Effect.
func (*Denial) Does() Does { return Fails }

// Needs implements Effect.
func (*Denial) Needs(*Fault) []cluster.Ability { return []cluster.Ability{cluster.DeniesWrites} }

// Inject implements Effect: writes are denied when all running API servers do so. Its witness
// exists only once an API server has denied a write.
func (d *Denial) Inject(ctx context.Context, a *Active) (*Injection, error) {
	policies, err := a.executor.policies()
	if err != nil {
		return nil, err
	}
	// before is what API servers had denied when all of them knew of the policy.
	var before map[string]int64
	name := a.policyName()
	injection := &Injection{
		Ending: func(ctx context.Context) error {
			if before != nil {
				a.witnessDenied(ctx, policies, before)
			}
			return nil
		},
		Remove: func(ctx context.Context) error { return policies.Allow(ctx, a.Member, name) },
		Gone:   func(ctx context.Context) error { return a.awaitPolicy(ctx, policies, false) },
	}
	a.Injected()
	if err := policies.Deny(ctx, a.Member, d.policy(name), binding(name)); err != nil {
		return injection, err
	}
	if err := a.awaitPolicy(ctx, policies, true); err != nil {
		return injection, err
	}
	denied := map[string]int64{}
	for _, member := range a.executor.running() {
		if denied[member], err = policies.Denied(ctx, member, name); err != nil {
			return injection, err
		}
	}
	before = denied
	return injection, nil
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
func (a *Active) awaitPolicy(ctx context.Context, policies Policies, denies bool) error {
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
func (a *Active) witnessDenied(ctx context.Context, policies Policies, denied map[string]int64) {
	var total int64
	for _, member := range a.executor.running() {
		now, err := policies.Denied(ctx, member, a.policyName())
		if err != nil {
			continue
		}
		if before := denied[member]; now >= before {
			now -= before
		}
		total += now // of a server that was started meanwhile all that it counts
	}
	if total > 0 {
		a.Witness(total, fmt.Sprintf("by their own count, the API servers denied %d writes by the policy %s", total, a.policyName()))
	}
}
