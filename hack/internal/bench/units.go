package bench

import (
	"fmt"
	"math"
)

// Unit formats a figure for readers. Figures are seconds, bytes and plain numbers. NaN
// means not measured, and infinite means not reached in time.
type Unit func(float64) string

// Count formats a plain number, without a unit.
func Count(v float64) string { return number(v, 0) }

// PerSecond formats a rate, given in 1/s.
func PerSecond(v float64) string { return number(v, 0) + "/s" }

// PerMinute formats a rate, given in 1/min.
func PerMinute(v float64) string { return number(v, 3) + "/min" }

// Seconds formats a duration, given in seconds.
func Seconds(v float64) string { return number(v, 2) + " s" }

// Milliseconds formats a duration, given in seconds, as milliseconds.
func Milliseconds(v float64) string { return number(v*1e3, 2) + " ms" }

// Kilobytes formats a size, given in bytes, in units of 1000 bytes.
func Kilobytes(v float64) string { return number(v/1e3, 1) + " kB" }

// Mebibytes formats a size, given in bytes, in units of 2^20 bytes.
func Mebibytes(v float64) string { return number(v/(1<<20), 0) + " MiB" }

// number writes at least three digits, and at most the given number after the point.
func number(v float64, most int) string {
	if math.IsNaN(v) {
		return "–"
	}
	if math.IsInf(v, 0) {
		return "∞"
	}
	places := most
	for size := math.Abs(v); places > 0 && size >= 10; size /= 10 {
		places--
	}
	return fmt.Sprintf("%.*f", places, v)
}

// Ratio formats one figure divided by another.
func Ratio(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case v < 0.1:
		return fmt.Sprintf("%.3f", v)
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}
