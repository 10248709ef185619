package scenario

import (
	"context"
	"encoding/json"
	"net/http"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// candidatesPath is where candidates of components are.
const candidatesPath = "/apis/coordination.k8s.io/v1beta1/namespaces/" + leaseNamespace + "/leasecandidates"

func candidateCall(verb, name string) observe.Call {
	return observe.Call{Verb: verb, Group: leaseGroup, Version: "v1beta1", Resource: "leasecandidates", Namespace: leaseNamespace, Name: name}
}

// electionCall marks a call as one that takes part in an election or disturbs it.
func electionCall(how string, call observe.Call) observe.Call {
	call.Class, call.Election = history.ClassElection, how
	return call
}

// get reads something; what cannot be read leaves it as it is.
func (c *crew) get(ctx context.Context, path string, into any) bool {
	answer := c.client.Get(ctx, path)
	return answer.OK() && json.Unmarshal(answer.Body, into) == nil
}

// read gives the Lease, or nil.
func (c *crew) read(ctx context.Context) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{}
	if !c.get(ctx, leasesPath+"/"+c.lease, lease) {
		return nil
	}
	return lease
}

// put updates the Lease on condition that its resourceVersion is unchanged, or creates it.
func (c *crew) put(ctx context.Context, how string, lease *coordinationv1.Lease) observe.Answer {
	verb := "update"
	if lease.ResourceVersion == "" {
		verb = "create"
	}
	call := electionCall(how, leaseCall(verb, c.lease))
	lease.TypeMeta = metav1.TypeMeta{APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease"}
	lease.ManagedFields = nil
	call.Body = lease
	return c.client.Do(ctx, call)
}

// erase deletes the Lease, if it is there.
func (c *crew) erase(ctx context.Context) error {
	call := electionCall(history.ElectionDelete, leaseCall("delete", c.lease))
	if answer := c.client.Do(ctx, call); !answer.OK() && answer.Code != http.StatusNotFound {
		return refused(call, c.client.Member(), answer)
	}
	return nil
}
