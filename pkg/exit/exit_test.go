package exit

import (
	"errors"
	"fmt"
	"testing"
)

func TestCode(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want int
	}{
		{"nil", nil, Pass},
		{"unmarked", errors.New("x"), CouldNotRun},
		{"wrapped", fmt.Errorf("y: %w", &Error{Code: Fail, Err: errors.New("x")}), Fail},
		{"inconclusive", &Error{Code: Inconclusive, Err: errors.New("x")}, Inconclusive},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Code(tc.err); got != tc.want {
				t.Errorf("Code = %d, want %d", got, tc.want)
			}
		})
	}
}
