package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/evenkeel/evenkeel/hack/internal/bench"
)

const migrationGroup = "storagemigration.k8s.io"

// rewrites counts the changes of the objects that etcd reports.
type rewrites struct {
	count       int
	first, last time.Time
}

// rate is the number of rewrites a second.
func (r rewrites) rate() float64 {
	if r.count < 2 {
		return math.NaN()
	}
	return float64(r.count-1) / r.last.Sub(r.first).Seconds()
}

// counter counts rewrites as etcd reports them.
type counter struct {
	mu   sync.Mutex
	seen rewrites
}

func (c *counter) read() rewrites {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

func (c *counter) take(response clientv3.WatchResponse) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, event := range response.Events {
		if !event.IsModify() {
			continue
		}
		if c.seen.count == 0 {
			c.seen.first = now
		}
		c.seen.count++
		c.seen.last = now
	}
}

// watch counts the changes of objects until the context ends.
func (p *plane) watch(ctx context.Context) *counter {
	c := &counter{}
	responses := p.etcd.Watch(ctx, prefix, clientv3.WithPrefix())
	go func() {
		for response := range responses {
			c.take(response)
		}
	}()
	return c
}

// all waits until n rewrites are counted: etcd sends the watch events a little later than
// it stores the objects.
func (c *counter) all(ctx context.Context, n int) (rewrites, error) {
	ctx, cancel := context.WithTimeout(ctx, toldTimeout)
	defer cancel()
	for {
		r := c.read()
		if r.count >= n {
			return r, nil
		}
		if wait(ctx) != nil {
			return r, fmt.Errorf("etcd reported %d rewritten objects of %d", r.count, n)
		}
	}
}

// tell prints the progress of the migration at an interval, until the context ends.
func (c *counter) tell(ctx context.Context, title string, n int) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(progressEvery):
			bench.Progress("%s: %d of %d objects are rewritten", title, c.read().count, n)
		}
	}
}

// migrate creates a migration and waits for its success. It returns how many seconds that
// took, which is infinite if the migration did not succeed in time.
func (p *plane) migrate(ctx context.Context, within time.Duration) (float64, error) {
	began := time.Now()
	inTime, cancel := context.WithTimeoutCause(ctx, within, errLate)
	defer cancel()
	migrations, err := p.ask(inTime)
	if err != nil {
		return 0, err
	}
	kicked := false
	for {
		now, err := p.client.Resource(migrations).Get(inTime, resource, metav1.GetOptions{})
		if err == nil {
			switch {
			case conditionTrue(now, "Succeeded"):
				return time.Since(began).Seconds(), nil
			case conditionTrue(now, "Failed"):
				return 0, fmt.Errorf("the migration failed: %v", now.Object["status"])
			}
			checkpoint, _, _ := unstructured.NestedString(now.Object, "status", "resourceVersion")
			if checkpoint != "" && !kicked {
				// Kubernetes waits until its cache of the resource has passed the checkpoint.
				// Without a write to the resource, that takes minutes.
				kicked = p.kick(inTime) == nil
			}
		}
		if waited := wait(inTime); errors.Is(waited, errLate) {
			return math.Inf(1), nil
		} else if waited != nil {
			return 0, errors.Join(waited, err)
		}
	}
}

// errLate means that a migration did not succeed within its time limit.
var errLate = errors.New("the migration has not succeeded in time")

func (p *plane) kick(ctx context.Context) error {
	objects := p.client.Resource(barrels).Namespace(namespace)
	_, err := objects.Create(ctx, barrel(trial), metav1.CreateOptions{})
	return errors.Join(err, objects.Delete(ctx, trial, metav1.DeleteOptions{}))
}

// ask creates the migration in a version that the API server serves.
func (p *plane) ask(ctx context.Context) (schema.GroupVersionResource, error) {
	var errs []error
	for _, version := range []string{"v1", "v1beta1"} {
		migrations := schema.GroupVersionResource{Group: migrationGroup, Version: version, Resource: "storageversionmigrations"}
		_, err := p.client.Resource(migrations).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": migrationGroup + "/" + version, "kind": "StorageVersionMigration", "metadata": map[string]any{"name": resource},
			"spec": map[string]any{"resource": map[string]any{"group": group, "resource": resource}},
		}}, metav1.CreateOptions{})
		if err == nil {
			return migrations, nil
		}
		errs = append(errs, err)
	}
	return schema.GroupVersionResource{}, fmt.Errorf("ask for a migration: %w", errors.Join(errs...))
}

func conditionTrue(object *unstructured.Unstructured, kind string) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if condition, ok := c.(map[string]any); ok && condition["type"] == kind && condition["status"] == "True" {
			return true
		}
	}
	return false
}
