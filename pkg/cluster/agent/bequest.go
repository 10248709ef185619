//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// Bequest is what the agents of a run remove from the cluster when its harness has fallen silent:
// the ClusterRole that owns all that the run has made, so that the garbage collector takes the
// rest. Agents keep it in memory, and only until the session ends.
type Bequest struct {
	Owner string    `json:"owner"`
	UID   types.UID `json:"uid"`
	// Token is of a ServiceAccount that may delete the owner, and nothing else.
	Token string `json:"token"`
	// Servers are the API servers that may be asked; any one is enough.
	Servers []APIServer `json:"servers"`
}

// APIServer is one that a bequest is carried out by.
type APIServer struct {
	URL string `json:"url"`
	// Name is which one its certificate has, if not that of the URL.
	Name string `json:"name,omitempty"`
	// CA is the bundle of authorities that vouch for it, in PEM.
	CA []byte `json:"ca"`
}

// carryOut has the first API server that does delete the owner. What the agent has done to
// the node is taken back before, but a control plane may need a while to recover.
func (b *Bequest) carryOut(ctx context.Context, log *slog.Logger, deleteBy func(context.Context, APIServer) error) error {
	refusals := 0
	var problems []error
	err := wait.PollUntilContextTimeout(ctx, bequestRetry, bequestBound, true, func(ctx context.Context) (bool, error) {
		problems = nil
		refused := true
		for _, server := range b.Servers {
			err := deleteBy(ctx, server)
			if err == nil {
				log.Info("the agent has removed what the run has made in the cluster", "owner", b.Owner)
				return true, nil
			}
			refused = refused && (apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err))
			problems = append(problems, err)
		}
		if refusals++; !refused {
			refusals = 0
		}
		if refusals == bequestRefusals {
			log.Info("another agent has removed what the run has made in the cluster", "owner", b.Owner)
		}
		return refusals == bequestRefusals, nil
	})
	if err != nil {
		return fmt.Errorf("remove the ClusterRole %s, and with it what the run has made: %w", b.Owner, errors.Join(append(problems, err)...))
	}
	return nil
}

func (b *Bequest) deleteBy(ctx context.Context, server APIServer) error {
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: server.URL, BearerToken: b.Token, TLSClientConfig: rest.TLSClientConfig{ServerName: server.Name, CAData: server.CA}, Timeout: bequestAttempt,
	})
	if err != nil {
		return fmt.Errorf("make a client for %s: %w", server.URL, err)
	}
	err = client.RbacV1().ClusterRoles().Delete(ctx, b.Owner, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &b.UID}, PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
	})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil // it has gone, or another one has its name
	case err != nil:
		return fmt.Errorf("%s: %w", server.URL, err)
	}
	return nil
}
