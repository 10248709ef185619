package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/observe"
)

// LeaderActivityInterval is the pause between two probes: what leaders do is seen that often.
const LeaderActivityInterval = 500 * time.Millisecond

// Paths of the objects by which leaders show that they act.
const (
	namespacesPath     = "/api/v1/namespaces"
	probePath          = namespacesPath + "/" + observe.LeaderActivityNamespace
	probeAccountsPath  = probePath + "/serviceaccounts"
	probeAuthorityPath = probePath + "/configmaps/kube-root-ca.crt"
	probePodsPath      = probePath + "/pods"
	probeCoreResources = "/api/v1"
)

// LeaderActivityProbe gives the leaders of published components something to do all the time, so
// that it is seen who acts: a namespace loses the ConfigMap that the controller manager
// makes for every namespace, with the authority of API servers in it, and gets a Pod
// that the scheduler can only say of that it fits nowhere. Elected components that tell by themselves what they do need
// none; where Pods are not served nothing is done.
type LeaderActivityProbe struct {
	members []string
	client  func(member string) (*observe.Client, error)
	clock   clock.WithTicker

	// at is whose API server is asked; another one's, if it does not do it.
	at       int
	prepared bool
	// number of the last Pod that was made; 0 before the first.
	number int64
}

// NewLeaderActivityProbe makes a LeaderActivityProbe that ask the members' API servers by the clients given.
func NewLeaderActivityProbe(members []string, client func(member string) (*observe.Client, error), clk clock.WithTicker) *LeaderActivityProbe {
	return &LeaderActivityProbe{members: members, client: client, clock: clk}
}

// Run goes on until the context ends. What fails is tried again with the next member;
// what was not done is not seen, and nobody is blamed for it.
func (e *LeaderActivityProbe) Run(ctx context.Context) {
	ticker := e.clock.NewTicker(LeaderActivityInterval)
	defer ticker.Stop()
	for {
		wanted, err := e.probe(ctx)
		if !wanted {
			return
		}
		if err != nil {
			e.at = (e.at + 1) % len(e.members)
		}
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
	}
}

// probe does it once; wanted is whether the control plane is one that has use for them.
func (e *LeaderActivityProbe) probe(ctx context.Context) (wanted bool, err error) {
	client, err := e.client(e.members[e.at])
	if err != nil {
		return true, err
	}
	defer client.Close()
	if !e.prepared {
		if wanted, err := e.prepare(ctx, client); !wanted || err != nil {
			return wanted, err
		}
	}
	if err := outcome(client.Send(ctx, http.MethodDelete, probeAuthorityPath, nil), http.StatusNotFound); err != nil {
		return true, err
	}
	if err := outcome(client.Send(ctx, http.MethodPost, probePodsPath, probePod(e.number+1)), http.StatusConflict); err != nil {
		return true, err
	}
	if e.number++; e.number > 1 {
		return true, outcome(client.Send(ctx, http.MethodDelete, probePodsPath+"/"+probePodName(e.number-1), nil), http.StatusNotFound)
	}
	return true, nil
}

// prepare makes the namespace, if there is use for it.
func (e *LeaderActivityProbe) prepare(ctx context.Context, client *observe.Client) (wanted bool, err error) {
	answer := client.Get(ctx, probeCoreResources)
	if err := outcome(answer); err != nil {
		return true, err
	}
	var served metav1.APIResourceList
	if err := json.Unmarshal(answer.Body, &served); err != nil {
		return true, err
	}
	for _, name := range []string{"configmaps", "serviceaccounts", "pods"} {
		if !slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == name }) {
			return false, nil
		}
	}
	for _, made := range []struct{ path, kind, name string }{
		{namespacesPath, "Namespace", observe.LeaderActivityNamespace},
		// Without it no Pod is admitted, and who makes it is not always there.
		{probeAccountsPath, "ServiceAccount", "default"},
	} {
		object := map[string]any{"apiVersion": "v1", "kind": made.kind, "metadata": map[string]any{"name": made.name}}
		if err := outcome(client.Send(ctx, http.MethodPost, made.path, object), http.StatusConflict); err != nil {
			return true, err
		}
	}
	e.prepared = true
	return true, nil
}

// outcome is an error for an answer that neither says that it was done nor is one of
// those that are as good.
func outcome(answer observe.Answer, asGood ...int) error {
	switch {
	case answer.Err != nil:
		return answer.Err
	case answer.OK() || slices.Contains(asGood, answer.Code):
		return nil
	}
	return fmt.Errorf("answered %d %s", answer.Code, answer.Message)
}

func probePodName(number int64) string { return fmt.Sprintf("nowhere-%d", number) }

// probePod fits on no node.
func probePod(number int64) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": probePodName(number)},
		"spec": map[string]any{
			"nodeSelector":                  map[string]any{"evenkeel.dev/nowhere": ""},
			"automountServiceAccountToken":  false,
			"terminationGracePeriodSeconds": 0,
			"containers":                    []any{map[string]any{"name": "none", "image": "none"}},
		},
	}
}
