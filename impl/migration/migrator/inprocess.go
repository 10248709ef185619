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

func (c *inProcess) worker() *worker {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	return c.m.active
}

func (c *inProcess) busy() types.UID {
	if w := c.worker(); w != nil {
		return w.uid
	}
	return ""
}

func (c *inProcess) stuck() error {
	if w := c.worker(); w != nil {
		return w.stuck()
	}
	return nil
}

func (c *inProcess) giveWay(context.Context) error {
	if w := c.worker(); w != nil {
		// At once: the loop may order the migrations again before the worker has ended.
		c.m.yield(w.uid, w.troubled())
		w.stop(errGaveWay)
	}
	return nil
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
		next := m.settle(ctx, a.svm, a.name, w.work(term))
		m.leave(w)
		if next {
			m.wake()
		}
	})
}

func (c *inProcess) dismiss(ctx context.Context, svm types.UID) {
	if w := c.worker(); w != nil && w.uid == svm {
		w.stop(errOver)
	}
	c.m.dropCheckpoint(ctx, svm)
}

func (c *inProcess) wait() { c.workers.Wait() }

// worker makes the worker of this process, whose context ends when it is stopped.
func (m *Migrator) worker(ctx context.Context, a assignment, view view) (context.Context, *worker) {
	term, stop := context.WithCancelCause(ctx)
	w := &worker{m: m, uid: a.svm.UID, svm: a.svm, name: a.name, target: a.target, view: view, stop: stop}
	m.mu.Lock()
	w.progress.last = m.options.Clock.Now()
	w.checkpoint.Trouble = m.turns[w.uid].trouble
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
