// Package interrupt ends a command in good order at the first signal, and at once at the
// second: what is under way then is given up, and what was to be taken back stays.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package interrupt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
)

// ErrInsisted is why the context of a Shelter has ended: a second signal came.
var ErrInsisted = errors.New("a second signal asked to leave at once")

// key is under which a context carries the one that only a second signal ends.
type key struct{}

// Notify is a context that ends with the first of the signals; its cause names it. After
// the second, which ends the contexts of Shelter, signals have their usual effect again, so
// that the third ends the process whatever it does. Told is called for the first and the
// second, from a goroutine; it may be nil. Stop gives up waiting for signals.
func Notify(parent context.Context, told func(nth int, s os.Signal), signals ...os.Signal) (ctx context.Context, stop func()) {
	received := make(chan os.Signal, 2)
	signal.Notify(received, signals...)
	ctx, wait := relay(parent, received, func() { signal.Stop(received) }, told)
	var once sync.Once
	return ctx, func() { once.Do(wait) }
}

// relay does so for what comes over a channel. Usual gives signals their usual effect.
func relay(parent context.Context, received <-chan os.Signal, usual func(), told func(nth int, s os.Signal)) (context.Context, func()) {
	if told == nil {
		told = func(int, os.Signal) {}
	}
	insisted, insist := context.WithCancelCause(context.WithoutCancel(parent))
	ctx, end := context.WithCancelCause(context.WithValue(parent, key{}, insisted))
	stopped := make(chan struct{})
	var relaying sync.WaitGroup
	relaying.Go(func() {
		for nth := 1; nth <= 2; nth++ {
			select {
			case s := <-received:
				told(nth, s)
				end(fmt.Errorf("interrupted by the signal %s", s))
				if nth == 2 {
					usual()
					insist(ErrInsisted)
				}
			case <-stopped:
				return
			}
		}
	})
	return ctx, func() {
		usual()
		close(stopped)
		relaying.Wait()
		end(nil)
		insist(nil)
	}
}

// Shelter is a context for leaving things in order: it has the values of ctx and does not
// end with it, but with a second signal if ctx comes from Notify. Cancel frees what it takes.
func Shelter(ctx context.Context) (sheltered context.Context, cancel context.CancelFunc) {
	insisted, ok := ctx.Value(key{}).(context.Context)
	out, end := context.WithCancelCause(context.WithoutCancel(ctx))
	if !ok {
		return out, func() { end(nil) }
	}
	stop := context.AfterFunc(insisted, func() { end(context.Cause(insisted)) })
	return out, func() {
		stop()
		end(nil)
	}
}
