package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// leftovers are the objects that a run has made, or may have, in the order in which it
// began to.
type leftovers struct{ objects []observe.Call }

// note remembers an object before it is made: a request without an answer may have
// made it too.
func (l *leftovers) note(object observe.Call) {
	same := func(other observe.Call) bool { return describeObject(other) == describeObject(object) }
	if !slices.ContainsFunc(l.objects, same) {
		l.objects = append(l.objects, object)
	}
}

func describeObject(object observe.Call) string {
	if object.Namespace != "" {
		return object.Resource + " " + object.Namespace + "/" + object.Name
	}
	return object.Resource + " " + object.Name
}

// cleanUp deletes what the run has made in a cluster that stays when it is over, the
// last first, however the run has ended.
func (r *Runner) cleanUp(ctx context.Context) error {
	if r.foreign == nil || len(r.made.objects) == 0 {
		return nil
	}
	late := fmt.Errorf("not all of it was gone within %s", CleanUpTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, CleanUpTimeout, late)
	defer cancel()
	var left []string
	var why error
	for _, object := range slices.Backward(r.made.objects) {
		if err := r.delete(ctx, object); err != nil {
			left, why = append(left, describeObject(object)), err
		}
	}
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("the run has left these in the cluster, delete them: %s: %w", strings.Join(left, ", "), why)
}

// delete deletes an object through the first member that does it.
func (r *Runner) delete(ctx context.Context, object observe.Call) error {
	object.Class, object.Verb = history.ClassGuarded, "delete"
	for {
		err := r.ofAny(func(client *observe.Client) error {
			answer := client.Do(ctx, object)
			if answer.OK() || answer.Code == http.StatusNotFound {
				return nil
			}
			return refused(object, client.Member(), answer)
		})
		if err == nil {
			return nil
		}
		if late := r.wait(ctx, observe.RetryInterval); late != nil {
			return errors.Join(err, late)
		}
	}
}

// backendNamespace is where the Services of backends are: one of the run's own in a
// cluster that somebody else runs.
func (r *Runner) backendNamespace() string {
	if r.foreign == nil {
		return usualNamespace
	}
	return r.Run
}

// makeNamespace makes that namespace.
func (r *Runner) makeNamespace(ctx context.Context, member, name string) error {
	if r.foreign == nil {
		return nil
	}
	r.made.note(observe.Call{Version: "v1", Resource: "namespaces", Name: name})
	return r.sendNamespace(ctx, member, name)
}

// sendNamespace creates a namespace through a member.
func (r *Runner) sendNamespace(ctx context.Context, member, name string) error {
	return r.send(ctx, member, observe.Call{Verb: "create", Version: "v1", Resource: "namespaces", Body: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}, http.StatusConflict)
}
