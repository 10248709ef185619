package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/util/retry"
)

const (
	group     = "bench.evenkeel.dev"
	resource  = "barrels"
	namespace = "default"
	oldest    = "v1beta1"
	newest    = "v1"
	// prefix is the etcd prefix of the objects.
	prefix = "/registry/" + group + "/" + resource + "/" + namespace + "/"
	// writers is how many clients fill etcd in parallel.
	writers, together = 4, 100
	// chunk is how many objects one read from etcd returns.
	chunk = 1000
	// trial is an object that shows in which version the API server stores.
	trial = "trial"
)

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	barrels     = schema.GroupVersionResource{Group: group, Version: oldest, Resource: resource}
)

// definition of the objects, stored in a version.
func definition(storage string) *unstructured.Unstructured {
	var versions []any
	for _, name := range []string{newest, oldest} {
		versions = append(versions, map[string]any{
			"name": name, "served": true, "storage": name == storage,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
		})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": resource + "." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "versions": versions,
			"names": map[string]any{"plural": resource, "singular": "barrel", "kind": "Barrel", "listKind": "BarrelList"},
		},
	}}
}

// cargo is small, so that a million objects and the revisions that etcd has not compacted
// yet stay well below etcd's default quota of 2 GiB.
var cargo = strings.Repeat("salted herring ", 8)

func barrel(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + oldest, "kind": "Barrel", "metadata": map[string]any{"name": name, "namespace": namespace},
		"spec": map[string]any{"cargo": cargo},
	}}
}

// prepare stores n objects in the old version, and then makes the new one the storage
// version. It writes the objects to etcd while the resource is not defined, so that no API
// server watches them: receiving a million watch events takes longer than a list.
func (p *plane) prepare(ctx context.Context, n int) error {
	if _, err := p.client.Resource(definitions).Create(ctx, definition(oldest), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := p.storesIn(ctx, oldest); err != nil {
		return err
	}
	like, err := p.example(ctx)
	if err != nil {
		return err
	}
	if err := p.undefine(ctx); err != nil {
		return err
	}
	if err := p.fill(ctx, like, n); err != nil {
		return err
	}
	now, err := p.client.Resource(definitions).Create(ctx, definition(oldest), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := p.stores(ctx, now.GetName(), newest); err != nil {
		return err
	}
	return p.storesIn(ctx, newest)
}

// stores makes another version the storage version of the definition.
func (p *plane) stores(ctx context.Context, name, version string) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := p.client.Resource(definitions).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Object["spec"] = definition(version).Object["spec"]
		_, err = p.client.Resource(definitions).Update(ctx, now, metav1.UpdateOptions{})
		return err
	})
}

// undefine deletes the definition and all objects, and waits until they are gone.
func (p *plane) undefine(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, fmt.Errorf("the definition was not removed within %v", settleTimeout))
	defer cancel()
	name := definition(oldest).GetName()
	if err := p.client.Resource(definitions).Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	for {
		if _, err := p.client.Resource(definitions).Get(ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			return nil
		}
		if err := wait(ctx); err != nil {
			return err
		}
	}
}

// storesIn waits until the API server stores a new object in a version.
func (p *plane) storesIn(ctx context.Context, version string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, fmt.Errorf("nothing was stored as %s within %v", version, settleTimeout))
	defer cancel()
	for {
		object := p.client.Resource(barrels).Namespace(namespace)
		_, err := object.Create(ctx, barrel(trial), metav1.CreateOptions{})
		if err == nil {
			answer, read := p.etcd.Get(ctx, prefix+trial)
			err = errors.Join(read, object.Delete(ctx, trial, metav1.DeleteOptions{}))
			if err == nil && len(answer.Kvs) == 1 && storedAs(answer.Kvs[0].Value, version) {
				return nil
			}
		} else if apierrors.IsAlreadyExists(err) {
			err = object.Delete(ctx, trial, metav1.DeleteOptions{})
		}
		if waited := wait(ctx); waited != nil {
			return errors.Join(waited, err)
		}
	}
}

func storedAs(value []byte, version string) bool {
	return bytes.Contains(value, []byte(`"apiVersion":"`+group+"/"+version+`"`))
}

func wait(ctx context.Context) error {
	select {
	case <-time.After(look):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// example is an object as the API server stores it in etcd.
type example struct{ name, uid, value string }

// example creates an object at the API server, and reads it from etcd.
func (p *plane) example(ctx context.Context) (example, error) {
	e := example{name: nameOf(0)}
	made, err := p.client.Resource(barrels).Namespace(namespace).Create(ctx, barrel(e.name), metav1.CreateOptions{})
	if err != nil {
		return e, err
	}
	answer, err := p.etcd.Get(ctx, prefix+e.name)
	if err != nil || len(answer.Kvs) != 1 {
		return e, errors.Join(fmt.Errorf("%s is not in etcd", e.name), err)
	}
	e.uid, e.value = string(made.GetUID()), string(answer.Kvs[0].Value)
	return e, nil
}

// another returns an object like the example, with its own name and UID.
func (e example) another(name string) string {
	return strings.NewReplacer(e.name, name, e.uid, string(uuid.NewUUID())).Replace(e.value)
}

// fill writes n objects like the example to etcd. Creating a million objects through the
// API server takes longer than migrating them, and is not what the benchmark measures.
func (p *plane) fill(ctx context.Context, like example, n int) error {
	parts, ctx := errgroup.WithContext(ctx)
	parts.SetLimit(writers)
	for from := 0; from < n; from += together {
		parts.Go(func() error {
			var puts []clientv3.Op
			for i := from; i < min(n, from+together); i++ {
				puts = append(puts, clientv3.OpPut(prefix+nameOf(i), like.another(nameOf(i))))
			}
			_, err := p.etcd.Txn(ctx).Then(puts...).Commit()
			return err
		})
	}
	return parts.Wait()
}

func nameOf(i int) string { return fmt.Sprintf("barrel-%07d", i) }

// count reads each object from etcd, and returns how many are stored in the new version.
// Without this check, a migrator that reports success and does nothing is the fastest.
func (p *plane) count(ctx context.Context, n int) (stored int, err error) {
	key, end, found := prefix, clientv3.GetPrefixRangeEnd(prefix), 0
	for {
		answer, err := p.etcd.Get(ctx, key, clientv3.WithRange(end), clientv3.WithLimit(chunk))
		if err != nil {
			return 0, fmt.Errorf("read the objects from etcd: %w", err)
		}
		for _, kv := range answer.Kvs {
			if storedAs(kv.Value, newest) {
				stored++
			}
			found++
			key = string(kv.Key) + "\x00"
		}
		if !answer.More {
			break
		}
	}
	if found != n {
		return stored, fmt.Errorf("etcd holds %d of %d objects", found, n)
	}
	return stored, nil
}
