package candidacy

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

// fenceInterval is how often at least a leader looks whether its last renewal is too long ago:
// a timer does not count while a machine is suspended, and the work has to end soon after.
const fenceInterval = time.Second

// work is the controller at work.
type work struct {
	stop  context.CancelCauseFunc
	ended chan struct{}
	// late is closed when the Lease was not renewed in time.
	late    chan struct{}
	elector *Elector
}

// over is whether the work was ended because the Lease was not renewed in time.
func (w *work) over() bool {
	if w == nil {
		return false
	}
	select {
	case <-w.late:
		return true
	default:
		return false
	}
}

// work begins to lead by a Lease.
func (e *Elector) work(ctx context.Context, lease *coordinationv1.Lease) *work {
	term := Term{
		Lease: e.options.Namespace + "/" + e.options.Lease, Holder: e.options.Name, Version: e.options.BinaryVersion,
		Number: ptr.Deref(lease.Spec.LeaseTransitions, 0), Leading: e.leading,
	}
	e.options.Logger.Info("Leading", "term", term.Number)
	ctx, stop := context.WithCancelCause(ctx)
	w := &work{stop: stop, ended: make(chan struct{}), late: make(chan struct{}), elector: e}
	e.works(true)
	go func() {
		defer close(w.ended)
		defer e.works(false)
		e.options.Lead(ctx, term)
	}()
	// After a pause, the process finds that its context has ended before it does
	// anything else.
	go w.watch(ctx)
	return w
}

func (e *Elector) works(working bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.working = working
}

// watch ends the work when the last renewal is too long ago, whatever the elector
// waits for.
func (w *work) watch(ctx context.Context) {
	e := w.elector
	for {
		e.mu.Lock()
		left := e.standing.Renewed.Add(e.options.Timing.RenewDeadline).Sub(e.steady())
		e.mu.Unlock()
		if left <= 0 {
			close(w.late)
			w.stop(ErrNotRenewed)
			e.wake()
			return
		}
		timer := e.options.Clock.NewTimer(min(left, fenceInterval))
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// end ends the work, and returns when nothing of it is left.
func (w *work) end() {
	e := w.elector
	e.mu.Lock()
	e.standing.Leading = false
	e.mu.Unlock()
	w.stop(nil)
	<-w.ended
}

// Healthy says what is wrong with the instance, if something is: work of a leader goes on
// although its Lease has expired by more than a tolerance. A candidate that waits is healthy.
func (e *Elector) Healthy(tolerance time.Duration) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if since := e.steady().Sub(e.standing.Renewed); e.working && since > e.options.Timing.LeaseDuration+tolerance {
		return fmt.Errorf("the instance %s works as the leader by the Lease %s/%s, which it has not renewed for %s",
			e.options.Name, e.options.Namespace, e.options.Lease, since.Round(time.Second))
	}
	return nil
}
