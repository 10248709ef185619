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

// LeaderActivityInterval is the pause between two probes, and so the resolution at which the
// harness sees that leaders act.
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

// LeaderActivityProbe gives the leaders of published components work all the time, so that
// the history shows which of them act. It deletes the ConfigMap kube-root-ca.crt of a
// namespace, which the acting controller manager creates again, and creates unschedulable
// Pods, to which the acting scheduler writes a condition. A control plane that serves no
// Pods needs no probe: its elected components record themselves what they do.
type LeaderActivityProbe struct {
	members []string
	client  func(member string) (*observe.Client, error)
	clock   clock.WithTicker
	// Allowance is how much is sent; nil is no bound. Set it before Run.
	Allowance *Allowance

	// at is the index of the member whose API server is asked; if a request fails, the
	// next member's is asked.
	at       int
	prepared bool
	// number of the last Pod that was made; 0 before the first.
	number int64
}

// NewLeaderActivityProbe makes a LeaderActivityProbe that sends its requests to the members'
// API servers by the clients given.
func NewLeaderActivityProbe(members []string, client func(member string) (*observe.Client, error), clk clock.WithTicker) *LeaderActivityProbe {
	return &LeaderActivityProbe{members: members, client: client, clock: clk}
}

// Run goes on until the context ends. If a request fails, Run tries the next member. A
// request that was not sent leaves no trace in the history, so no verdict follows from it.
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

// probe sends the requests once; wanted is whether the control plane serves Pods.
func (e *LeaderActivityProbe) probe(ctx context.Context) (wanted bool, err error) {
	if !e.Allowance.Take() {
		return true, nil
	}
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

// prepare creates the namespace, if the control plane serves Pods.
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
		// Without the service account no Pod is admitted, and the controller manager,
		// which creates it, does not always run.
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

// outcome returns an error for an answer that is neither a success nor one of the status
// codes that count as one.
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

// probePod returns a Pod that the scheduler can place on no node.
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
