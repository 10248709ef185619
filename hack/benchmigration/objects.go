package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	group     = "bench.evenkeel.dev"
	resource  = "barrels"
	namespace = "default"
	oldest    = "v1beta1"
	newest    = "v1"
	// prefix is where the objects lie in etcd.
	prefix = "/registry/" + group + "/" + resource + "/" + namespace + "/"
	// writers fill the control plane at the same time.
	writers = 16
	// chunk is how many objects are read from etcd at a time.
	chunk = 1000
	// trial is an object that shows in which version is stored.
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

// cargo is small, so that a million objects stay well below the 2 GiB that etcd has by
// default, with the revisions that it has not forgotten yet.
var cargo = strings.Repeat("salted herring ", 8)

func barrel(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + oldest, "kind": "Barrel", "metadata": map[string]any{"name": name, "namespace": namespace},
		"spec": map[string]any{"cargo": cargo},
	}}
}

// prepare has n objects stored in the old version, and the new one in force.
func (p *plane) prepare(ctx context.Context, n int) error {
	if _, err := p.client.Resource(definitions).Create(ctx, definition(oldest), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := p.storesIn(ctx, oldest); err != nil {
		return err
	}
	if err := p.fill(ctx, n); err != nil {
		return err
	}
	now, err := p.client.Resource(definitions).Get(ctx, resource+"."+group, metav1.GetOptions{})
	if err != nil {
		return err
	}
	now.Object["spec"] = definition(newest).Object["spec"]
	if _, err := p.client.Resource(definitions).Update(ctx, now, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return p.storesIn(ctx, newest)
}

// storesIn waits until a new object is stored in a version.
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

func (p *plane) fill(ctx context.Context, n int) error {
	errs := make([]error, writers)
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for i := writer; i < n; i += writers {
				for {
					_, err := p.client.Resource(barrels).Namespace(namespace).Create(ctx, barrel(fmt.Sprintf("barrel-%07d", i)), metav1.CreateOptions{})
					if err == nil || apierrors.IsAlreadyExists(err) {
						break
					}
					if waited := wait(ctx); waited != nil {
						errs[writer] = errors.Join(waited, err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// count reads each object from etcd, and gives how many are stored in the new version: a
// migration that says it succeeded is fast if it does nothing.
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
		return stored, fmt.Errorf("of %d objects %d are there", n, found)
	}
	return stored, nil
}
