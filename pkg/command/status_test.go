package command

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/exit"
)

func TestStatusOf(t *testing.T) {
	for verdict, want := range map[check.Verdict]int{
		check.Pass: exit.Pass, check.Fail: exit.Fail, check.Inconclusive: exit.Inconclusive,
		check.Skipped: exit.Inconclusive, check.NotApplicable: exit.Inconclusive, "": exit.Inconclusive, "splendid": exit.Inconclusive,
	} {
		if got := statusOf(verdict); got != want {
			t.Errorf("%q ends with %d, want %d", verdict, got, want)
		}
	}
}
