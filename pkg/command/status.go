package command

import (
	"errors"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/exit"
)

// verdictStatus is the error that carries the exit status of a verdict; it has
// no text, because the verdict has been printed.
func verdictStatus(v check.Verdict) error {
	if status := statusOf(v); status != exit.Pass {
		return &exit.Error{Code: status, Err: errors.New("")}
	}
	return nil
}

// statusOf is the exit status that tells of a report's verdict.
func statusOf(v check.Verdict) int {
	switch v {
	case check.Pass:
		return exit.Pass
	case check.Fail:
		return exit.Fail
	default:
		return exit.Inconclusive
	}
}
