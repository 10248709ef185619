package v1alpha1

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// kilogramsPerTonne is what a "t" is worth in "kg".
const kilogramsPerTonne = 1000

// parseWeight reads a weight such as "3t" or "250kg"; empty is no weight.
func parseWeight(weight string) (int64, error) {
	if weight == "" {
		return 0, nil
	}
	unit := int64(1)
	digits, found := strings.CutSuffix(weight, "kg")
	if !found {
		if digits, found = strings.CutSuffix(weight, "t"); !found {
			return 0, fmt.Errorf("spec.weight %q has no unit; write it as a whole number followed by t or kg", weight)
		}
		unit = kilogramsPerTonne
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/unit || n < math.MinInt64/unit {
		return 0, fmt.Errorf("spec.weight %q is not a whole number of t or kg that fits into 64 bits", weight)
	}
	return n * unit, nil
}

// formatWeight writes a weight in the largest unit that leaves no fraction.
func formatWeight(kilograms int64) string {
	switch {
	case kilograms == 0:
		return ""
	case kilograms%kilogramsPerTonne == 0:
		return strconv.FormatInt(kilograms/kilogramsPerTonne, 10) + "t"
	default:
		return strconv.FormatInt(kilograms, 10) + "kg"
	}
}
