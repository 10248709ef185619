package bench

import (
	"math"
	"strings"
	"testing"
)

func TestGoals(t *testing.T) {
	const megabyte = 1_000_000
	for _, test := range []struct {
		goal          *Goal
		figure, ratio float64
		met           bool
	}{
		{AtMost(0.1), 0, 0.1, true}, {AtMost(0.1), 0, 0.11, false}, {AtMost(1), 0, math.NaN(), false},
		{AtLeast(10), 0, 10, true}, {AtLeast(10), 0, 9.9, false}, {AtLeast(10), 0, math.NaN(), false},
		{Below(megabyte, "1 MB"), 999_999, 5, true}, {Below(megabyte, "1 MB"), megabyte, 0.1, false},
		{Below(1, "1 s"), math.NaN(), 0.1, false}, {Below(1, "1 s"), math.Inf(1), 0.1, false},
	} {
		if got := strings.HasSuffix(test.goal.Verdict(test.figure, test.ratio), ": met"); got != test.met {
			t.Errorf("%s of %v, %v is met: %v", test.goal.text, test.figure, test.ratio, got)
		}
	}
}
