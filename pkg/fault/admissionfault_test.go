package fault

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

const denial = `apiVersion: evenkeel.dev/v1alpha1
kind: AdmissionFault
metadata: {name: f}
spec:
  member: "@member"
  operations: [CREATE, UPDATE]
  group: coordination.k8s.io
  resource: leases
  namespace: kube-system
  name: kube-controller-manager
  users: ["system:kube-controller-manager"]
`

func TestAdmissionFaultsAreRead(t *testing.T) {
	fault, err := Parse("f.yaml", []byte(denial))
	if err != nil {
		t.Fatal(err)
	}
	if fault.Type != TypeAdmission || fault.Member != StepMember || fault.Effect.(*Denial).None() || !slices.Equal(fault.Prefixes, []string{"/registry/leases/kube-system/kube-controller-manager"}) {
		t.Errorf("it is %+v", fault)
	}
	for change, want := range map[[2]string]string{
		{"[CREATE, UPDATE]", "[PATCH]"}:                    `spec.operations has "PATCH"`,
		{"[CREATE, UPDATE]", "[]"}:                         "spec.operations is missing",
		{"resource: leases", "resource: pods/status"}:      "must be a resource",
		{`member: "@member"`, `member: ""`}:                "spec.member must be",
		{"name: f", `name: ""`}:                            "metadata.name is missing",
		{"users:", "people:"}:                              "people",
		{"evenkeel.dev/v1alpha1", "evenkeel.dev/v2"}:       "apiVersion is",
		{"resource: leases", "resource: leases\n  all: y"}: "all",
	} {
		if _, err := Parse("f.yaml", []byte(strings.Replace(denial, change[0], change[1], 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with %q: %v, want %q", change[1], err, want)
		}
	}
}

func TestWhatIsDenied(t *testing.T) {
	d := Denial{Operations: []admissionv1.OperationType{admissionv1.Delete}, Group: "test.dev", Resource: "widgets", Name: `a"b`, Users: []string{"u", "v"}}
	policy := d.policy("p")
	got := policy.Spec.Validations[0].Expression
	for _, want := range []string{
		`!(request.resource.group == "test.dev" && request.resource.resource == "widgets" && request.name == "a\"b" && request.userInfo.username in ["u", "v"])`,
		`request.dryRun && request.name == "p")`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s has no %s", got, want)
		}
	}
	if rules := policy.Spec.MatchConstraints.ResourceRules; rules[0].Resources[0] != "widgets" || rules[1].Operations[0] != admissionv1.Create {
		t.Errorf("it is asked about %+v", rules)
	}
	if d.prefixes() != nil {
		t.Errorf("widgets have the keys %v", d.prefixes())
	}
}

// policed is a plane of three members whose API servers know policies.
type policed struct {
	plane
	bound, noticed string
	// deaf notices nothing; slow is how many tries it takes to notice.
	deaf bool
	slow int
	// denied counts per member; writes are what comes while the policy binds.
	denied map[string]int64
	err    error
}

func (p *policed) Members() []cluster.Member {
	var out []cluster.Member
	for _, name := range []string{"cp1", "cp2", "cp3"} {
		out = append(out, cluster.Member{Name: name, Components: []cluster.Component{cluster.APIServer}})
	}
	return out
}

func (p *policed) Process(member string, _ cluster.Component) (cluster.Process, bool) {
	return cluster.Process{PID: 1}, member != "cp3"
}

func (p *policed) Deny(_ context.Context, _ string, policy *admissionv1.ValidatingAdmissionPolicy, _ *admissionv1.ValidatingAdmissionPolicyBinding) error {
	p.bound = policy.Name
	return p.err
}

func (p *policed) Allow(context.Context, string, string) error {
	p.bound = ""
	return nil
}

func (p *policed) Denies(_ context.Context, member, policy string) (bool, error) {
	if member == "cp3" {
		return false, errors.New("the API server does not answer")
	}
	if p.noticed != p.bound && !p.deaf {
		if p.slow--; p.slow < 0 {
			p.noticed = p.bound
		}
	}
	if p.noticed == policy {
		p.denied[member]++ // what is tried counts too
	}
	return p.noticed == policy, nil
}

func (p *policed) Denied(_ context.Context, member, _ string) (int64, error) {
	return p.denied[member], nil
}

func TestDeniedWritesAreTheWitness(t *testing.T) {
	fault, err := Parse("f.yaml", []byte(denial))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		write  func(*policed)
		slow   int
		phases string
		count  int64
	}{
		"a write is denied":                   {func(p *policed) { p.denied["cp2"]++ }, 2, "inject witness heal", 1},
		"no client writes":                    {func(*policed) {}, 0, "inject heal", 0},
		"a server that was started meanwhile": {func(p *policed) { p.denied["cp1"] = 0; p.denied["cp2"] += 3 }, 0, "inject witness heal", 3},
	} {
		t.Run(name, func(t *testing.T) {
			p, recorded := &policed{denied: map[string]int64{}, slow: tc.slow}, new(events)
			active, err := NewExecutor(p, p, recorded, clock.RealClock{}).Inject(t.Context(), fault, "cp1")
			if err != nil || p.noticed != "evenkeel-f" {
				t.Fatalf("%v, and the servers noticed %q", err, p.noticed)
			}
			tc.write(p)
			p.slow = tc.slow
			if err := active.Heal(t.Context()); err != nil || p.noticed != "" {
				t.Errorf("%v, and the servers notice %q", err, p.noticed)
			}
			if got := recorded.phases(); got != tc.phases {
				t.Errorf("recorded %s, want %s", got, tc.phases)
			}
			if tc.count > 0 && (*recorded)[1].Fault.Count != tc.count {
				t.Errorf("counted %d, want %d", (*recorded)[1].Fault.Count, tc.count)
			}
			if prefixes := (*recorded)[0].Fault.Prefixes; len(prefixes) != 1 {
				t.Errorf("it is about %v", prefixes)
			}
		})
	}
}

func TestAPolicyThatCannotBeIsTakenBack(t *testing.T) {
	fault, err := Parse("f.yaml", []byte(denial))
	if err != nil {
		t.Fatal(err)
	}
	p := &policed{denied: map[string]int64{}, err: cluster.ErrUnsupported}
	if _, err := NewExecutor(p, p, new(events), clock.RealClock{}).Inject(t.Context(), fault, "cp1"); !errors.Is(err, cluster.ErrUnsupported) || p.bound != "" {
		t.Errorf("%v, and %q binds", err, p.bound)
	}
	ctx, cancel := context.WithCancel(t.Context())
	deaf := &policed{denied: map[string]int64{}, deaf: true}
	cancel()
	if _, err := NewExecutor(deaf, deaf, new(events), clock.RealClock{}).Inject(ctx, fault, "cp1"); !errors.Is(err, context.Canceled) || deaf.bound != "" {
		t.Errorf("%v, and %q binds", err, deaf.bound)
	}
	if _, err := NewExecutor(&plane{}, &plane{}, new(events), clock.RealClock{}).Inject(t.Context(), fault, "cp1"); !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("where there are no policies: %v", err)
	}
}

// Drawn apart from each other, a group and a resource are mostly none that there is, and nothing is
// denied.
func TestAdmissionFault_SettlesWhatWasDrawnApart(t *testing.T) {
	entries := Entries()
	deny := entries[slices.IndexFunc(entries, func(e registry.Entry) bool { return e.Name == "AdmissionFault/deny" })]
	for _, tc := range []struct{ drawn, want registry.Values }{
		{registry.Values{"resource": "leases", "group": "storagemigration.k8s.io", "namespace": "kube-system", "name": "kube-scheduler"},
			registry.Values{"resource": "leases", "group": "coordination.k8s.io", "namespace": "kube-system", "name": "kube-scheduler"}},
		{registry.Values{"resource": "storageversions", "namespace": "kube-system", "name": "kube-scheduler"}, registry.Values{"resource": "storageversions", "group": "internal.apiserver.k8s.io"}},
		{registry.Values{"resource": "configmaps", "group": "coordination.k8s.io"}, registry.Values{"resource": "configmaps"}},
	} {
		deny.Settle(tc.drawn)
		if !maps.Equal(tc.drawn, tc.want) {
			t.Errorf("settled %v, want %v", tc.drawn, tc.want)
		}
		tc.drawn["operations"] = []any{"CREATE"}
		if _, err := deny.Compose("f", tc.drawn); err != nil {
			t.Error(err)
		}
	}
}
