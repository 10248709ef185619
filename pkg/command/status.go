package command

import (
	"errors"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/exit"
)

// verdictStatus is the error that carries the exit status of a verdict; it has
// no text, because the verdict has been printed.
func verdictStatus(v check.Verdict) error {
	switch v {
	case check.Pass:
		return nil
	case check.Fail:
		return &exit.Error{Code: exit.Fail, Err: errors.New("")}
	default:
		return &exit.Error{Code: exit.Inconclusive, Err: errors.New("")}
	}
}
