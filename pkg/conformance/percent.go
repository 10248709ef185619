package conformance

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParsePercent reads a share such as "10%" or "95": a number of percent between 0 and 100.
// Flag names the flag in the error.
func ParsePercent(flag, text string) (float64, error) {
	number := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || !(value > 0 && value < 100) {
		return 0, fmt.Errorf("%s %q is no number of percent between 0 and 100, such as 10%%", flag, text)
	}
	return value / 100, nil
}

// percent writes a share as people read it.
func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e6)/1e4, 'f', -1, 64) + " %"
}

// upTo writes a bound: rounded up to a tenth of a percent, so that the printed bound is
// never better than the computed one.
func upTo(share float64) string {
	const tenths = 1000
	// What is above the tenth by less than the precision of the computation is the tenth.
	const noise = 1e-9
	return strconv.FormatFloat(math.Max(math.Min(math.Ceil(share*tenths-noise)/10, 100), 0)+0, 'f', 1, 64) + "%"
}
