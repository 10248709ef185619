package bench

import "fmt"

// Goal is what a figure has to reach, by itself or compared with another one.
type Goal struct {
	text string
	// met judges the figure, and its ratio to the other figure.
	met func(figure, ratio float64) bool
}

// AtMost is a goal of figures of which a smaller one is better.
func AtMost(part float64) *Goal {
	return &Goal{fmt.Sprintf("≤ %g", part), func(_, ratio float64) bool { return ratio <= part }}
}

// AtLeast is a goal of figures of which a greater one is better.
func AtLeast(part float64) *Goal {
	return &Goal{fmt.Sprintf("≥ %g", part), func(_, ratio float64) bool { return ratio >= part }}
}

// Below is a goal of the figure alone; text has it in its unit.
func Below(bound float64, text string) *Goal {
	return &Goal{"< " + text, func(figure, _ float64) bool { return figure < bound }}
}

// Verdict tells whether the goal was met. A figure that was not measured meets no goal.
func (g *Goal) Verdict(figure, ratio float64) string {
	if g.met(figure, ratio) {
		return g.text + ": met"
	}
	return g.text + ": **missed**"
}
