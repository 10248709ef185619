package main

import (
	"fmt"
	"math"
)

// unit writes a figure for people. Figures are seconds, bytes and plain numbers.
type unit func(float64) string

func count(v float64) string         { return number(v, 0) }
func perSecond(v float64) string     { return number(v, 0) + "/s" }
func milliseconds(v float64) string  { return number(v*1e3, 2) + " ms" }
func kilobytesUnit(v float64) string { return number(v/1e3, 1) + " kB" }
func mebibytes(v float64) string     { return number(v/(1<<20), 0) + " MiB" }

// number writes three digits at least, and so many behind the point at most.
func number(v float64, most int) string {
	if math.IsNaN(v) {
		return "–"
	}
	places := most
	for size := math.Abs(v); places > 0 && size >= 10; size /= 10 {
		places--
	}
	return fmt.Sprintf("%.*f", places, v)
}

// ratio writes what part one figure is of another.
func ratio(v float64) string {
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
