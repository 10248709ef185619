package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

const namespaces = "namespaces"

// leftovers are the objects that a run has made, or may have, in the order in which it
// began to.
type leftovers struct {
	mu      sync.Mutex
	known   map[string]bool
	objects []observe.Call
}

// note remembers an object before it is made: a request without an answer may have
// made it too.
func (l *leftovers) note(object observe.Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := object.Group + " " + describeObject(object)
	if l.known == nil {
		l.known = map[string]bool{}
	}
	if !l.known[name] {
		l.known[name] = true
		l.objects = append(l.objects, object)
	}
}

func describeObject(object observe.Call) string {
	if object.Namespace != "" {
		return object.Resource + " " + object.Namespace + "/" + object.Name
	}
	return object.Resource + " " + object.Name
}

// cleanUp deletes what the run has made in a cluster that stays when it is over, however
// the run has ended. It may take as long as there is to delete; what stays is named, with
// the command that removes it.
func (r *Runner) cleanUp(ctx context.Context) error {
	if r.foreign == nil {
		return nil
	}
	r.cleaning = true
	if len(r.made.objects) == 0 {
		return nil
	}
	bound := cleanUpBound(len(r.made.objects))
	ctx, cancel := context.WithTimeoutCause(ctx, bound, fmt.Errorf("not all of it was gone within %s", bound))
	defer cancel()
	var left []observe.Call
	var why error
	for _, kind := range r.made.kinds() {
		stays, err := r.deleteAll(ctx, kind)
		left = append(left, stays...)
		why = cmp.Or(err, why)
	}
	if len(left) == 0 {
		return nil
	}
	var names []string
	for _, object := range left {
		names = append(names, describeObject(object))
	}
	return fmt.Errorf("the run has left %d objects in the cluster: %s; remove them with: %s; they are there because of this: %w",
		len(left), strings.Join(names, ", "), removal(left), why)
}

// cleanUpBound is how long it may take to delete so many objects: for each of them one
// request to a member that does not answer, CleanUpWriters of them at the same time.
func cleanUpBound(objects int) time.Duration {
	return CleanUpTimeout + time.Duration(objects)*observe.RequestTimeout/CleanUpWriters
}

// kinds are the objects by their kind, that of which the last one was made first: an
// APIService goes before the Service that it names. Namespaces come last: none can go while an
// APIService leads to a server that has gone, and those of some steps are made late.
func (l *leftovers) kinds() (kinds [][]observe.Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := map[string]int{}
	for _, object := range slices.Backward(l.objects) {
		kind := object.Resource + "." + object.Group
		if _, known := at[kind]; !known {
			at[kind] = len(kinds)
			kinds = append(kinds, nil)
		}
		kinds[at[kind]] = append(kinds[at[kind]], object)
	}
	slices.SortStableFunc(kinds, func(a, b []observe.Call) int { return cmp.Compare(last(a), last(b)) })
	return kinds
}

// last is 1 for namespaces, and 0 for all else.
func last(kind []observe.Call) int {
	if kind[0].Resource == namespaces {
		return 1
	}
	return 0
}

// deleteAll deletes objects, several at the same time, and gives those that stay, with the
// first reason.
func (r *Runner) deleteAll(ctx context.Context, objects []observe.Call) (left []observe.Call, why error) {
	errs := make([]error, len(objects))
	var deleting errgroup.Group
	deleting.SetLimit(CleanUpWriters)
	for i, object := range objects {
		deleting.Go(func() error {
			errs[i] = r.delete(ctx, object)
			if errs[i] == nil && object.Resource == namespaces {
				errs[i] = r.awaitGone(ctx, object)
			}
			return nil
		})
	}
	_ = deleting.Wait() // errs has all errors
	for i, err := range errs {
		if err != nil {
			left, why = append(left, objects[i]), cmp.Or(why, err)
		}
	}
	return left, why
}

// removal is the command by which a user removes objects.
func removal(objects []observe.Call) string {
	var heads []string
	names := map[string][]string{}
	for _, object := range objects {
		head := "kubectl delete --ignore-not-found " + object.Resource
		if object.Group != "" {
			head += "." + object.Group
		}
		if object.Namespace != "" {
			head += " -n " + object.Namespace
		}
		if names[head] == nil {
			heads = append(heads, head)
		}
		names[head] = append(names[head], object.Name)
	}
	var commands []string
	for _, head := range heads {
		commands = append(commands, head+" "+strings.Join(names[head], " "))
	}
	return strings.Join(commands, " && ")
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

// awaitGone waits until a namespace is gone, with all that is in it.
func (r *Runner) awaitGone(ctx context.Context, object observe.Call) error {
	for {
		err := r.ofAny(func(client *observe.Client) error {
			answer := client.Get(ctx, observe.GroupVersionPath(object.Group, object.Version)+"/"+object.Resource+"/"+object.Name)
			if answer.Code == http.StatusNotFound {
				return nil
			}
			return fmt.Errorf("%s is still there: %s answered %d", describeObject(object), client.Member(), answer.Code)
		})
		if err == nil {
			return nil
		}
		if late := r.wait(ctx, observe.RetryInterval); late != nil {
			return errors.Join(err, late)
		}
	}
}

// backendNamespace returns the namespace of the backends' Services: in an external cluster
// it is one of the run's own.
func (r *Runner) backendNamespace() string {
	if r.foreign == nil {
		return usualNamespace
	}
	return ownName(r.Run)
}

// makeNamespace makes that namespace.
func (r *Runner) makeNamespace(ctx context.Context, member, name string) error {
	if r.foreign == nil {
		return nil
	}
	if err := r.ensureOwner(ctx); err != nil {
		return err
	}
	r.made.note(observe.Call{Version: "v1", Resource: namespaces, Name: name})
	return r.sendNamespace(ctx, member, name)
}

// sendNamespace creates a namespace through a member.
func (r *Runner) sendNamespace(ctx context.Context, member, name string) error {
	return r.send(ctx, member, creationOf(name), http.StatusConflict)
}

// creationOf creates a namespace.
func creationOf(name string) observe.Call {
	return observe.Call{Verb: "create", Version: "v1", Resource: namespaces, Body: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}
}
