// Package exit gives errors the status that the evenkeel command ends with, so
// that the place that knows what went wrong decides it and main only obeys.
package exit

import (
	"errors"
	"fmt"
)

// The statuses of the evenkeel command.
const (
	// Pass: every requirement in question was kept.
	Pass = 0
	// Fail: at least one requirement was broken.
	Fail = 1
	// Inconclusive: too little was seen to judge, or a part was skipped.
	Inconclusive = 2
	// CouldNotRun: usage or environment kept the work from being done.
	CouldNotRun = 3
)

// Error is an error that knows the status to end with.
type Error struct {
	Code int
	Err  error
}

// Error is the sentence of the wrapped error; the status is no part of it.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the wrapped error to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Environment marks an error of usage or environment: nothing could be judged.
// A nil error stays nil, and an error that has a status already keeps it.
func Environment(err error) error {
	if err == nil {
		return nil
	}
	var coded *Error
	if errors.As(err, &coded) {
		return err
	}
	return &Error{Code: CouldNotRun, Err: err}
}

// Environmentf is Environment of a formatted error.
func Environmentf(format string, args ...any) error {
	return Environment(fmt.Errorf(format, args...))
}

// Code is the status to end with: 0 for nil, the error's own where it has one,
// and CouldNotRun for every other error, because an error that nobody thought
// of must never look like a verdict.
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
