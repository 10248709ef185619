// Package exit has the statuses that the evenkeel command ends with. Which one it is, pkg/command
// decides alone: libraries return errors that say what is wrong, and know no status. What runs
// the command, such as programs in hack/, reads its statuses by these names.
//
// Others may build on it: the statuses do not change.
package exit

import "errors"

// The statuses of the evenkeel command.
const (
	// Pass: every requirement in question holds.
	Pass = 0
	// Fail: at least one requirement is broken.
	Fail = 1
	// Inconclusive: too little was seen to judge, or a part was skipped.
	Inconclusive = 2
	// CouldNotRun: usage or environment kept the work from being done.
	CouldNotRun = 3
)

// Error is an error of the command that ends it with another status than CouldNotRun.
type Error struct {
	Code int
	Err  error
}

// Error is the sentence of the wrapped error; the status is no part of it.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the wrapped error to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Code is the status to end with: Pass for nil, the error's own where it has one,
// and CouldNotRun for every other error, because an error of which the command knows
// nothing must never look like a verdict.
func Code(err error) int {
	if err == nil {
		return Pass
	}
	var coded *Error
	if errors.As(err, &coded) {
		return coded.Code
	}
	return CouldNotRun
}
