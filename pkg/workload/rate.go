package workload

import (
	"fmt"
	"time"
)

// LowestRate and HighestRate are what a rate may be, in calls a second. Below it nothing
// would come in any run; above it there is no time between two calls that a timer can keep.
const (
	LowestRate  = 0.001
	HighestRate = 1000.0
)

// CheckRate says what is wrong with a rate in calls a second; 0 means none at all.
func CheckRate(rate float64) error {
	if rate == 0 || rate >= LowestRate && rate <= HighestRate {
		return nil
	}
	return fmt.Errorf("is %v a second, and must be 0 or between %v and %v", rate, LowestRate, HighestRate)
}

// Interval is the time between two calls at a rate above 0. A part of a rate that
// CheckRate allows may be lower than the lowest one.
func Interval(rate float64) time.Duration {
	return time.Duration(float64(time.Second) / max(rate, LowestRate))
}
