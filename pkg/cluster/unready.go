package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Unready is the error of a component that was started as it should be and did not
// become ready. It tells of the control plane: what the provider, the harness or the
// machine could not do is another error.
type Unready struct {
	Member    string
	Component Component
	// Waited is for how long, and Bound the longest that would have been waited; 0 if
	// something else has ended the wait.
	Waited, Bound time.Duration
	// Code is the HTTP status of the last answer, 0 if there was none, and Failing the
	// checks that it named.
	Code    int
	Failing []string
	// What was seen instead, in words.
	What string
}

// Error says which component, and what was seen instead.
func (u *Unready) Error() string {
	return fmt.Sprintf("the %s of member %s %s", u.Component, u.Member, u.What)
}

// TimedOut is whether the context ended because a bound has passed, and not because
// the wait was given up for another reason.
func TimedOut(ctx context.Context) bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) }

// StartedNoMore is what a provider notes in a component's log when the machine did not
// let it start the component again.
const StartedNoMore = "cannot be started again"

// machineFailures are what a log says of a machine, and not of what runs on it.
var machineFailures = []string{
	"no space left on device", "address already in use", "too many open files", "cannot allocate memory",
	"disk quota exceeded", "read-only file system", "exec format error", "resource temporarily unavailable", StartedNoMore,
}

// MachineFailure is the failure of the machine that a component's last words tell of;
// empty if they tell of none.
func MachineFailure(said string) string {
	said = strings.ToLower(said)
	for _, failure := range machineFailures {
		if strings.Contains(said, failure) {
			return failure
		}
	}
	return ""
}
