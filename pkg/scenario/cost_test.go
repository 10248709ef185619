package scenario

import (
	"testing"
	"time"
)

// A campaign begins with what takes long, so that it does not end with it alone.
func TestCost_OfChangesThatGoOnForLong(t *testing.T) {
	for _, tc := range []struct {
		churn Churn
		want  time.Duration
	}{
		{Churn{For: time.Minute}, time.Minute},
		{Churn{Rounds: 1}, stepCost},
	} {
		s := &Scenario{Steps: []Step{{Action: &tc.churn}}}
		if got := s.Cost(); got != tc.want {
			t.Errorf("%+v costs %s, want %s", tc.churn, got, tc.want)
		}
	}
}
