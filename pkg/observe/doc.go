// Package observe records what a control plane under test does, from outside:
// its etcd, its readiness, what each API server hosts, and what it answers
// while it boots. Recorders start before the processes that they observe exist,
// take refused connections for the ordinary course of things, and judge
// nothing: they only write events.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package observe

import "github.com/evenkeel/evenkeel/pkg/history"

// Recorder is where events go; history.Writer is one.
type Recorder interface {
	// Now is the time in the history.
	Now() int64
	// Record appends an event, which gets its number and time there.
	Record(history.Event)
}
