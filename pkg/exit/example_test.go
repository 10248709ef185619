package exit_test

import (
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/exit"
)

// An error that says nothing of a status is no verdict: the command could not run.
func ExampleCode() {
	broken := &exit.Error{Code: exit.Fail, Err: errors.New("SV-06 is broken")}
	for _, err := range []error{nil, fmt.Errorf("judge: %w", broken), errors.New("there is no such file")} {
		fmt.Println(exit.Code(err), err)
	}
	// Output:
	// 0 <nil>
	// 1 judge: SV-06 is broken
	// 3 there is no such file
}
