//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
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

// remover asks an API server to delete the owner, or in a trial whether it would.
type remover func(ctx context.Context, server APIServer, trial bool) error

// carryOut has the first API server that does delete the owner. What the agent has done to
// the node is taken back before, but a control plane may need a while to recover.
//
// A node that was cut off by other means, or frozen, hears nothing of a harness that lives. When an
// API server would delete the owner the node is back, so that such a harness is heard soon: then
// nothing is deleted.
func (b *Bequest) carryOut(ctx context.Context, log *slog.Logger, ask remover, clk clock.Clock, silent func() bool) error {
	bounded, cancel := context.WithTimeout(ctx, bequestBound)
	defer cancel()
	would, err := b.anyServer(bounded, log, ask, true)
	if !would || err != nil {
		return err
	}
	hearing := clk.NewTimer(hearingBound)
	defer hearing.Stop()
	select {
	case <-hearing.C():
	case <-ctx.Done():
		return nil
	}
	if !silent() {
		log.Info("the harness is heard again, so that the agent leaves what the run has made", "owner", b.Owner)
		return nil
	}
	removed, err := b.anyServer(bounded, log, ask, false)
	if removed {
		log.Info("the agent has removed what the run has made in the cluster", "owner", b.Owner)
	}
	return err
}

// anyServer asks the API servers until one does what is asked. It is false without an error where
// all of them refuse, since another agent has removed the owner.
func (b *Bequest) anyServer(ctx context.Context, log *slog.Logger, ask remover, trial bool) (done bool, err error) {
	refusals := 0
	var problems []error
	err = wait.PollUntilContextCancel(ctx, bequestRetry, true, func(ctx context.Context) (bool, error) {
		said := askEach(ctx, b.Servers, ask, trial)
		problems = said.problems
		if one, ok := b.asPodsSeeIt(); ok && !said.done && !said.answered {
			said = askEach(ctx, []APIServer{one}, ask, trial)
			problems = append(problems, said.problems...)
		}
		if said.done {
			done = true
			return true, nil
		}
		if refusals++; !said.refused {
			refusals = 0
		}
		if refusals == bequestRefusals {
			log.Info("another agent has removed what the run has made in the cluster", "owner", b.Owner)
		}
		return refusals == bequestRefusals, nil
	})
	if err != nil {
		return false, fmt.Errorf("remove the ClusterRole %s, and with it what the run has made: %w", b.Owner, errors.Join(append(problems, err)...))
	}
	return done, nil
}

// answers are what API servers said to one question.
type answers struct {
	// done is whether one did what was asked, refused whether each of them refused to, and answered
	// whether one was there at all.
	done, refused, answered bool
	problems                []error
}

func askEach(ctx context.Context, servers []APIServer, ask remover, trial bool) answers {
	said := answers{refused: true}
	for _, server := range servers {
		err := ask(ctx, server, trial)
		if err == nil {
			return answers{done: true}
		}
		said.refused = said.refused && (apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err))
		var answer apierrors.APIStatus
		said.answered = said.answered || errors.As(err, &answer)
		said.problems = append(said.problems, err)
	}
	return said
}

// asPodsSeeIt is the API server behind the Service of which the kubelet tells every Pod. The addresses
// of the harness may lead to none from a node, such as those of a tunnel.
func (b *Bequest) asPodsSeeIt() (server APIServer, ok bool) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" || len(b.Servers) == 0 {
		return APIServer{}, false
	}
	return APIServer{URL: "https://" + net.JoinHostPort(host, port), CA: b.Servers[0].CA}, true
}

// deleteBy implements remover.
func (b *Bequest) deleteBy(ctx context.Context, server APIServer, trial bool) error {
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: server.URL, BearerToken: b.Token, TLSClientConfig: rest.TLSClientConfig{ServerName: server.Name, CAData: server.CA}, Timeout: bequestAttempt,
	})
	if err != nil {
		return fmt.Errorf("make a client for %s: %w", server.URL, err)
	}
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &b.UID}, PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
	if trial {
		options.DryRun = []string{metav1.DryRunAll}
	}
	err = client.RbacV1().ClusterRoles().Delete(ctx, b.Owner, options)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil // it has gone, or another one has its name
	case err != nil:
		return fmt.Errorf("%s: %w", server.URL, err)
	}
	return nil
}
