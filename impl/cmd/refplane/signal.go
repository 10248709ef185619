package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// stopBound is how long a component may take to stop in good order, beside the delay
// before it begins to. Requests that hang on an unreachable etcd would otherwise hold it up for a minute.
const stopBound = 5 * time.Second

// Exit statuses of a component that did not stop in good order.
const (
	exitStopBound    = 1
	exitSecondSignal = 130
)

// stopDelay is how long a component continues after the signal to stop.
type stopDelay struct{ atomic.Int64 }

func (d *stopDelay) set(delay time.Duration) { d.Store(int64(delay)) }

// bound is how long the process may take to end after the signal.
func (d *stopDelay) bound() time.Duration { return stopBound + time.Duration(d.Load()) }

// untilSignal returns a context that ends with the first signal to stop. The
// process ends at once with the second one, or when the bound of the delay is over.
func untilSignal(parent context.Context, delay *stopDelay) context.Context {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		select {
		case <-signals:
			os.Exit(exitSecondSignal)
		case <-time.After(delay.bound()):
			fmt.Fprintf(os.Stderr, "refplane: stopping took longer than %s, gave up waiting\n", delay.bound())
			os.Exit(exitStopBound)
		}
	}()
	return ctx
}
