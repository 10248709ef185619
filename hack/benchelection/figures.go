package main

import (
	"errors"
	"math"
	"time"
)

// figures are times in seconds, one for each repetition. A time is infinite where the event
// did not happen within its bound.
//
// An instance leads from its first observed renewal of the Lease on. Without a coordinator
// that is when the instance takes the Lease. A coordinator first names the holder, which then
// has to notice it.
type figures struct {
	// started: from when the first instance began, which for a controller manager is the
	// start of its process, until there is a leader.
	started []float64
	// first: from when the first candidate is seen until there is a leader. There are
	// candidates only where a coordinator elects.
	first []float64
	// preempted: from when a candidate of an older version is seen, beside a leader who
	// is healthy, until that candidate leads.
	preempted []float64
	// crashed: from a leader's crash until another instance leads; expired: from when the
	// crashed leader's Lease ended, which is its last renewal and the duration that it
	// wrote with it, by its own clock.
	crashed, expired []float64
	// acted: from a leader's crash until another instance acts as the leader, where leaders
	// leave evidence of acting.
	acted []float64
}

// add puts the figures of others behind.
func (f *figures) add(o figures) {
	f.started = append(f.started, o.started...)
	f.first = append(f.first, o.first...)
	f.preempted = append(f.preempted, o.preempted...)
	f.crashed = append(f.crashed, o.crashed...)
	f.expired = append(f.expired, o.expired...)
	f.acted = append(f.acted, o.acted...)
}

func between(from, to time.Time) float64 { return to.Sub(from).Seconds() }

// never is the figure of what did not come about in its time.
var never = math.Inf(1)

// isLate is whether an error says no more than that something took too long, which is a
// figure and does not end the benchmark.
func isLate(err error) bool {
	var l late
	return errors.As(err, &l)
}
