package command

import (
	"errors"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/exit"
	"github.com/evenkeel/evenkeel/pkg/run"
)

// verdictStatus is the error that carries the exit status of a verdict; it has
// no text, because the verdict has been printed.
func verdictStatus(v check.Verdict) error {
	if status := run.Status(v); status != exit.Pass {
		return &exit.Error{Code: status, Err: errors.New("")}
	}
	return nil
}
