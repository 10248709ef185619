package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// WrittenResource is a resource of which the harness has written an object.
type WrittenResource struct {
	Group, Resource string
	// prefix of the keys of its objects: in all namespaces, or on a cluster that is shared only
	// those of the run.
	prefix string
	// own begins the names of the run's objects, which are in the namespace of that name or, where
	// the resource has none, begin with it; empty where all objects are compared.
	own        string
	namespaced bool
}

// whole is the name of an object whose key is the prefix with what remains behind it.
func (w WrittenResource) whole(remains string) string {
	switch {
	case w.own == "":
		return remains
	case w.namespaced:
		return w.own + "/" + remains
	}
	return w.own + remains
}

// noteWritten remembers where a resource lies of which the harness has written an object.
func (r *Etcd) noteWritten(key string, known storedKey) {
	prefix, found := strings.CutSuffix(key, "/"+known.name)
	if r.own != "" && !strings.HasPrefix(known.name, r.own) {
		return
	}
	if known.tag == "" || known.name == "" || known.resource.resource == "" || !found {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	written := WrittenResource{Group: known.resource.group, Resource: known.resource.resource, prefix: prefix + "/" + r.own, own: r.own}
	if r.own != "" && strings.Contains(known.name, "/") {
		written.namespaced, written.prefix = true, written.prefix+"/"
	}
	r.written[known.resource] = written
}

// define remembers a definition, or forgets it.
func (r *Etcd) define(key string, definition *history.CustomResource) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if definition == nil {
		delete(r.definitions, key)
		return
	}
	r.definitions[key] = *definition
}

// Written are the resources of which the harness has written an object, in an order that
// is always the same.
func (r *Etcd) Written() []WrittenResource {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []WrittenResource
	for _, written := range r.written {
		all = append(all, written)
	}
	slices.SortFunc(all, func(a, b WrittenResource) int { return cmp.Compare(a.prefix, b.prefix) })
	return all
}

// Established are the custom resources that exist and are established, as far as was
// recorded, in an order that is always the same.
func (r *Etcd) Established() []history.CustomResource {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []history.CustomResource
	for _, definition := range r.definitions {
		if definition.Established {
			all = append(all, definition)
		}
	}
	slices.SortFunc(all, func(a, b history.CustomResource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
	return all
}

// heldKey is one object that etcd holds.
type heldKey struct {
	// name has the namespace in front where the object has one.
	name              string
	modified, created int64
}

// held are the objects below a prefix that etcd holds at a revision, in the order of their
// keys, at most so many; 0 is the latest revision, and no limit. Where the revision is the
// latest, at is which that was. total is how many there are.
func (r *Etcd) held(ctx context.Context, prefix string, revision, most int64) (keys []heldKey, at, total int64, err error) {
	options := []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithRev(revision), clientv3.WithKeysOnly(), clientv3.WithLimit(most)}
	if r.unread != "" {
		return nil, 0, 0, errors.New(r.unread)
	}
	r.mu.Lock()
	first := r.answered
	r.mu.Unlock()
	var errs []error
	for i := range r.members {
		member := r.members[(first+i)%len(r.members)]
		client, err := r.client(member)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		bounded, cancel := context.WithTimeout(ctx, ReadTimeout)
		answer, err := client.Get(bounded, prefix, options...)
		cancel()
		if err != nil {
			errs = append(errs, fmt.Errorf("read the keys below %s from the etcd of %s: %w", prefix, member, err))
			continue
		}
		for _, kv := range answer.Kvs {
			keys = append(keys, heldKey{strings.TrimPrefix(string(kv.Key), prefix), kv.ModRevision, kv.CreateRevision})
		}
		return keys, answer.Header.Revision, answer.Count, nil
	}
	return nil, 0, 0, errors.Join(errs...)
}
