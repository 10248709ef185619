package scenario

import (
	"context"
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// deleteNamespace deletes the namespace of a population. What is in it the control plane has to
// delete, which takes a while.
func (r *Runner) deleteNamespace(ctx context.Context, member string, step *DeleteNamespace) error {
	p, err := r.populated(step.Population)
	if err != nil {
		return err
	}
	namespace := observe.Call{Version: "v1", Resource: "namespaces", Name: p.workload.Spec.Namespace}
	ctx, cancel := r.within(ctx, DeleteNamespaceTimeout, history.AwaitedState, member, "namespace %s was not gone", namespace.Name)
	defer cancel()
	namespace.Verb = "delete"
	if err := r.send(ctx, member, namespace, http.StatusNotFound); err != nil {
		return err
	}
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	namespace.Class, namespace.Verb = history.ClassRead, "get"
	for {
		if answer := client.Do(ctx, namespace); answer.Code == http.StatusNotFound {
			return nil
		}
		if err := r.wait(ctx, observe.RetryInterval); err != nil {
			return err
		}
	}
}
