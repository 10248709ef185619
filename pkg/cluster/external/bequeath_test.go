package external

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

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

// Where agents only look, or may not disrupt yet, none is told to remove anything.
func TestBequeaths_OnlyWhereAgentsMayDisrupt(t *testing.T) {
	for _, tc := range []struct {
		rung          cluster.Rung
		allowed, want bool
	}{{cluster.RungDisrupt, true, true}, {cluster.RungDisrupt, false, false}, {cluster.RungLook, true, false}, {"", true, false}} {
		c := &external{spec: cluster.External{Agent: tc.rung}, allowed: tc.allowed}
		if got := c.Bequeaths(); got != tc.want {
			t.Errorf("%+v: %t", tc, got)
		}
	}
}

// A harness that is killed before it renews its session once more leaves nothing either: the agents
// know the owner when Bequeath returns. The first member does not answer.
func TestBequeath_TellsTheAgentsAtOnce(t *testing.T) {
	p := newPlane(t, "cp1")
	n := p.withAgent(cluster.RungDisrupt)
	c := n.up().(*external)
	all := c.members
	on := all[0].node
	on.stopRenewing()
	on.renewing.Wait()
	c.members = []*member{{name: "away", config: &rest.Config{Host: "https://127.0.0.1:1"}, node: on}, all[0]}
	err := c.Bequeath(t.Context(), "evenkeel-r1", owner)
	c.members = all
	if err != nil {
		t.Fatal(err)
	}
	wait(t, func() bool {
		n.clock.Step(time.Second) // until the agent finds that it hears nothing
		return slices.Contains(p.removals(), "/apis/rbac.authorization.k8s.io/v1/clusterroles/evenkeel-r1")
	})
}

func TestBequeath_SaysThatNoAgentHeardOfIt(t *testing.T) {
	p := newPlane(t, "cp1")
	c := p.withAgent(cluster.RungDisrupt).up().(*external)
	all := c.members
	unheard := agent.NewRemoteClient("cp1", "r1", func(context.Context) (net.Conn, error) { return nil, errors.New("no route") }, &tls.Config{MinVersion: tls.VersionTLS13})
	c.members = []*member{{name: "cp1", config: all[0].config, node: &node{agent: unheard}}}
	err := c.Bequeath(t.Context(), "evenkeel-r1", owner)
	c.members = all
	if err == nil || !strings.Contains(err.Error(), "no agent heard") || !strings.Contains(err.Error(), "no route") {
		t.Errorf("%v", err)
	}
}
