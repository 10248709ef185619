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

// The remover has the right that the owner gives, and goes with it.
func TestRemover_IsBoundToTheOwner(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "serviceaccounts", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return action.GetSubresource() == "token", &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{Token: "t"}}, nil
	})
	token, err := removerToken(t.Context(), client, "evenkeel-r1", owner)
	if err != nil || token != "t" {
		t.Fatalf("%q, %v", token, err)
	}
	binding, err := client.RbacV1().ClusterRoleBindings().Get(t.Context(), "evenkeel-r1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(binding.OwnerReferences) != 1 || binding.OwnerReferences[0] != owner || binding.RoleRef.Kind != "ClusterRole" || binding.RoleRef.Name != owner.Name ||
		len(binding.Subjects) != 1 || binding.Subjects[0].Namespace != "evenkeel-r1" || binding.Subjects[0].Name != remover {
		t.Errorf("it is bound by %+v", binding)
	}
	account, err := client.CoreV1().ServiceAccounts("evenkeel-r1").Get(t.Context(), remover, metav1.GetOptions{})
	if err != nil || account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken {
		t.Errorf("its account is %+v, %v", account, err)
	}
}

var owner = metav1.OwnerReference{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "evenkeel-r1", UID: "u1"}

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
	if err := c.Bequeath(t.Context(), "evenkeel-r1", owner); err != nil || c.bequest.Load() != nil {
		t.Errorf("%v, %+v", err, c.bequest.Load())
	}
}
