package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// Bequeaths implements cluster.Bequeathing: agents that may change their nodes remove what a run
// has made.
func (c *external) Bequeaths() bool { return c.obeys() }

// Bequeath implements cluster.Bequeathing. The agents' own ServiceAccount has no rights; they get
// the token of one that may delete the owner alone.
func (c *external) Bequeath(ctx context.Context, namespace string, owner metav1.OwnerReference) error {
	ctx, cancel := context.WithTimeout(ctx, readyBound)
	defer cancel()
	token, err := c.removerToken(ctx, namespace, owner)
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
	return c.tellBequest(ctx, bequest)
}

// tellBequest tells the agents at once: until the next renewal a harness that is killed would leave
// what it makes.
func (c *external) tellBequest(ctx context.Context, bequest *agent.Bequest) error {
	problems := make([]error, len(c.members))
	var telling sync.WaitGroup
	for i, m := range c.members {
		telling.Go(func() { problems[i] = m.node.agent.Renew(ctx, bequest) })
	}
	telling.Wait()
	if slices.Contains(problems, nil) {
		return nil // one agent is enough, and the others hear of it when they are renewed
	}
	return fmt.Errorf("no agent heard what to remove if the harness is killed: %w", errors.Join(problems...))
}

// removerToken asks the members in turn until one gives the token.
func (c *external) removerToken(ctx context.Context, namespace string, owner metav1.OwnerReference) (string, error) {
	var problems []error
	for _, m := range c.members {
		client, err := kubernetes.NewForConfig(m.config)
		if err != nil {
			return "", err
		}
		asking, cancel := context.WithTimeout(ctx, meetBound)
		token, err := removerToken(asking, client, namespace, owner)
		cancel()
		if err == nil {
			return token, nil
		}
		problems = append(problems, fmt.Errorf("%s: %w", m.name, err))
	}
	return "", errors.Join(problems...)
}

// removerToken makes the ServiceAccount and what gives it its right, and a token of it. A member
// that was asked before may have made some of it.
func removerToken(ctx context.Context, client kubernetes.Interface, namespace string, owner metav1.OwnerReference) (string, error) {
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: owner.Name, Labels: map[string]string{observe.RunLabel: namespace}, OwnerReferences: []metav1.OwnerReference{owner}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: owner.Kind, Name: owner.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: remover}},
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", err
	}
	accounts := client.CoreV1().ServiceAccounts(namespace)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: remover}, AutomountServiceAccountToken: ptr.To(false)}
	if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
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
