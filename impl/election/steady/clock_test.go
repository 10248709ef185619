package steady

import (
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestBoot_GoesForwardWithoutAMonotonicReading(t *testing.T) {
	first := Boot()
	if later := Boot(); later.Before(first) {
		t.Errorf("%s comes before %s", later, first)
	}
	// A monotonic reading would take over in comparisons, and stand still during a suspend.
	if first != first.Round(0) {
		t.Errorf("%s has a reading of the monotonic clock", first)
	}
	if first.Sub(epoch) <= 0 {
		t.Errorf("the machine was up for %s", first.Sub(epoch))
	}
}

func TestOf_TakesTheMachinesClockForTheRealOneOnly(t *testing.T) {
	if got := Of(clock.RealClock{})(); time.Since(got) < 24*time.Hour {
		t.Errorf("the real clock gives %s, which is wall time", got)
	}
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	if got := Of(clocktesting.NewFakePassiveClock(noon))(); !got.Equal(noon) {
		t.Errorf("%s, want %s", got, noon)
	}
}
