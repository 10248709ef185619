// Package steady has the time by which a leader knows whether it may still act.
//
// Go's monotonic clock is CLOCK_MONOTONIC, which stands still while a machine is suspended,
// and the wall clock may be set back. Neither tells a process after a resume that its Lease
// has expired. CLOCK_BOOTTIME counts through a suspend and is never set.
//
// What that covers: a process that was stopped or not scheduled, a machine or a container that
// was frozen, a suspended machine, a virtual machine that was paused by a hypervisor which
// lets the guest's CLOCK_BOOTTIME catch up. What it does not cover: a virtual machine that
// was paused or restored from a snapshot without its guest clock being told. No clock of the
// guest counts such a pause, so only a precondition of the write itself would fence it.
package steady

import (
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"
)

// Time is a time of a clock that only goes forward. Two of them are compared only if they
// come from the same Clock.
type Time = time.Time

// Clock gives the time that has passed, as a time.
type Clock func() Time

// epoch is where a Clock begins. Times of it are for comparisons, and mean nothing else.
var epoch = time.Unix(0, 0).UTC()

// Boot is the clock of the machine.
func Boot() Time {
	var now unix.Timespec
	// It fails only where the kernel has no such clock, which is since 2.6.39.
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return epoch.Add(time.Since(started))
	}
	return epoch.Add(time.Duration(now.Nano()))
}

var started = time.Now()

// Of gives a Clock that goes by another one: Boot for the real one, and for a clock of a test
// that one.
func Of(c clock.PassiveClock) Clock {
	if _, real := c.(clock.RealClock); real {
		return Boot
	}
	return c.Now
}
