package scenario

import (
	"context"
	"errors"
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// DeleteNamespace deletes the namespace of a Populate with all objects in it, and waits until
// it is gone.
type DeleteNamespace struct {
	// Member is the member to whose API server the step sends the request.
	Member     string `yaml:"member"`
	Population string `yaml:"population"`
}

var _ = register("deleteNamespace", func() Action { return &DeleteNamespace{} }, registry.Fields{"member": oneMember, "population": registry.Known(namesSeparatePopulation)}, cluster.WritesObjects)

func (s *DeleteNamespace) selectors() []string { return []string{s.Member} }

func (s *DeleteNamespace) validate() error {
	return errors.Join(missing("member", s.Member), missing("population", s.Population))
}
func (s *DeleteNamespace) name(n *names) error {
	return n.need("population with a namespace of its own", s.Population)
}
func (s *DeleteNamespace) lacking(r *Runner) string {
	return lacking("population", s.Population, r.populations[s.Population] != nil)
}

func (s *DeleteNamespace) play(ctx context.Context, r *Runner, at target) error {
	return r.deleteNamespace(ctx, at.one(), s)
}

// deleteNamespace deletes the namespace of a population. What is in it the control plane has to
// delete, which takes a while.
func (r *Runner) deleteNamespace(ctx context.Context, member string, step *DeleteNamespace) error {
	p, err := r.populated(step.Population)
	if err != nil {
		return err
	}
	namespace := observe.Call{Version: "v1", Resource: namespaces, Name: p.workload.Spec.Namespace}
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
