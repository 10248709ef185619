package external

import (
	"context"
	"fmt"
	"os"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// remover is the ServiceAccount that may delete the owner of what a run makes. It lies in the
// run's namespace.
const remover = "evenkeel-remover"

// bequestLifetime is how long the remover's token is valid: for as long as the longest run.
const bequestLifetime = 24 * time.Hour

// Bequeath implements cluster.Bequeathing, where agents may change their nodes. Their own
// ServiceAccount has no rights; they get the token of one that may delete the owner alone.
func (c *external) Bequeath(ctx context.Context, namespace string, owner metav1.OwnerReference) error {
	if !c.obeys() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyBound)
	defer cancel()
	client, err := kubernetes.NewForConfig(c.members[0].config)
	if err != nil {
		return err
	}
	token, err := removerToken(ctx, client, namespace, owner)
	if err != nil {
		return fmt.Errorf("let the agents remove what the run makes if the harness is killed: %w", err)
	}
	bequest := &agent.Bequest{Owner: owner.Name, UID: owner.UID, Token: token}
	for _, m := range c.members {
		server, err := asSeen(m.config)
		if err != nil {
			return fmt.Errorf("the API server of %s: %w", m.name, err)
		}
		bequest.Servers = append(bequest.Servers, server)
	}
	c.bequest.Store(bequest)
	return nil
}

// removerToken makes the ServiceAccount and what gives it its right, and a token of it.
func removerToken(ctx context.Context, client kubernetes.Interface, namespace string, owner metav1.OwnerReference) (string, error) {
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: owner.Name, Labels: map[string]string{observe.RunLabel: namespace}, OwnerReferences: []metav1.OwnerReference{owner}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: owner.Kind, Name: owner.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: remover}},
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	accounts := client.CoreV1().ServiceAccounts(namespace)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: remover}, AutomountServiceAccountToken: ptr.To(false)}
	if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(bequestLifetime / time.Second))}}
	granted, err := accounts.CreateToken(ctx, remover, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return granted.Status.Token, nil
}

// asSeen is an API server as the configuration of a client leads to it.
func asSeen(config *rest.Config) (agent.APIServer, error) {
	ca := config.CAData
	if len(ca) == 0 && config.CAFile != "" {
		var err error
		if ca, err = os.ReadFile(config.CAFile); err != nil {
			return agent.APIServer{}, fmt.Errorf("read the authority that vouches for it: %w", err)
		}
	}
	return agent.APIServer{URL: config.Host, Name: config.ServerName, CA: ca}, nil
}
