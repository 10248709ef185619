package migrator

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// inProcess is the crew where nothing runs workloads: the worker is a goroutine of
// this process and ends with it.
type inProcess struct {
	m       *Migrator
	workers sync.WaitGroup
}

var _ crew = (*inProcess)(nil)

// look has nothing to do: a worker settles by itself what it has ended.
func (*inProcess) look(context.Context, view) error { return nil }

func (c *inProcess) busy() (types.UID, bool) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if c.m.active == nil {
		return "", false
	}
	return c.m.active.uid, false
}

func (c *inProcess) launch(ctx context.Context, a assignment, view view) {
	m := c.m
	given := int64(0)
	term, w := m.worker(ctx, a, view)
	w.number = func(ctx context.Context) (n int64, err error) {
		given, err = m.enroll(ctx, a.svm, a.name, given)
		return given, err
	}
	c.workers.Go(func() {
		decided := m.settle(ctx, a.svm, a.name, w.work(term))
		m.leave(w)
		if decided {
			m.wake()
		}
	})
}

func (c *inProcess) dismiss(ctx context.Context, svm types.UID) { c.m.dropCheckpoint(ctx, svm) }

func (c *inProcess) wait() { c.workers.Wait() }

// worker makes the worker of this process, whose context ends when it is stopped.
func (m *Migrator) worker(ctx context.Context, a assignment, view view) (context.Context, *worker) {
	term, stop := context.WithCancelCause(ctx)
	w := &worker{m: m, uid: a.svm.UID, svm: a.svm, name: a.name, target: a.target, view: view, stop: stop}
	m.mu.Lock()
	m.active = w
	m.mu.Unlock()
	workerRunning.Set(1)
	return term, w
}

// leave ends a worker of this process.
func (m *Migrator) leave(w *worker) {
	w.stop(nil)
	workerRunning.Set(0)
	m.mu.Lock()
	m.active = nil
	m.mu.Unlock()
}
