package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// stopBound is how long a component may take to stop in good order. Requests
// that hang on an unreachable etcd would otherwise hold it up for a minute.
const stopBound = 5 * time.Second

// Exit statuses of a component that did not stop in good order.
const (
	exitStopBound    = 1
	exitSecondSignal = 130
)

// untilSignal returns a context that ends with the first signal to stop. The
// process ends at once with the second one, or when stopBound is over.
func untilSignal(parent context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		select {
		case <-signals:
			os.Exit(exitSecondSignal)
		case <-time.After(stopBound):
			fmt.Fprintf(os.Stderr, "refplane: stopping took longer than %s, gave up waiting\n", stopBound)
			os.Exit(exitStopBound)
		}
	}()
	return ctx
}
