package workload

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestAllowance_KeepsToTheRateAndTheBudget(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	a := NewAllowance(10, 25, clk)
	take := func() (n int) {
		for a.Take() {
			n++
		}
		return n
	}
	for i, want := range []int{1, 5, 10, 9, 0} {
		if got := take(); got != want {
			t.Errorf("in turn %d it allows %d, want %d", i, got, want)
		}
		clk.Step([]time.Duration{500 * time.Millisecond, time.Minute, time.Minute, time.Minute, 0}[i])
	}
	if left, ok := a.Left(); left != 0 || !ok {
		t.Errorf("left are %d", left)
	}
	if _, bounded := (*Allowance)(nil).Left(); bounded || !(*Allowance)(nil).Take() {
		t.Error("without an allowance there is a bound")
	}
}
