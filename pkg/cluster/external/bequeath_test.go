package external

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
)

// The remover may delete the run's namespace and do nothing else, and goes with it.
func TestRemover_MayDeleteOneNamespace(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return action.GetSubresource() == "token", &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{Token: "t"}}, nil
	})
	token, err := removerToken(t.Context(), client, "evenkeel-r1", "u1")
	if err != nil || token != "t" {
		t.Fatalf("%q, %v", token, err)
	}
	role, err := client.RbacV1().ClusterRoles().Get(t.Context(), "evenkeel-r1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding, err := client.RbacV1().ClusterRoleBindings().Get(t.Context(), "evenkeel-r1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(role.Rules) != 1 || role.Rules[0].String() != "&PolicyRule{Verbs:[delete],APIGroups:[],Resources:[namespaces],ResourceNames:[evenkeel-r1],NonResourceURLs:[],}" {
		t.Errorf("it may %v", role.Rules)
	}
	for _, meta := range []metav1.ObjectMeta{role.ObjectMeta, binding.ObjectMeta} {
		if len(meta.OwnerReferences) != 1 || meta.OwnerReferences[0].UID != "u1" {
			t.Errorf("%s is owned by %v", meta.Name, meta.OwnerReferences)
		}
	}
	if subject := binding.Subjects[0]; subject.Namespace != "evenkeel-r1" || subject.Name != remover || binding.RoleRef.Name != role.Name {
		t.Errorf("it is bound to %v", binding)
	}
}

// The token is a credential of the run: no bundle may have it.
func TestCredentials_HaveTheRemoversToken(t *testing.T) {
	c := &external{}
	before, err := c.Credentials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.bequest.Store(&agent.Bequest{Token: "a-long-token-of-the-remover"})
	after, err := c.Credentials(t.Context())
	if err != nil || len(after) != len(before)+1 {
		t.Errorf("%d credentials after %d, %v", len(after), len(before), err)
	}
}

// Where agents only look, none is told to remove anything.
func TestBequeath_AsksOnlyAgentsThatMayDisrupt(t *testing.T) {
	c := &external{spec: cluster.External{Agent: cluster.RungLook}, allowed: true, members: []*member{{config: &rest.Config{Host: "https://127.0.0.1:1"}}}}
	if err := c.Bequeath(t.Context(), "evenkeel-r1", "u1"); err != nil || c.bequest.Load() != nil {
		t.Errorf("%v, %+v", err, c.bequest.Load())
	}
}
