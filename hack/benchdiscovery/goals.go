package main

import "fmt"

// goal is what the reference is to reach beside kube-apiserver.
type goal struct {
	text string
	// met judges the reference's figure, and what part of the other's it is.
	met func(figure, ratio float64) bool
}

// atMost is a goal of figures that are better the smaller they are.
func atMost(part float64) *goal {
	return &goal{fmt.Sprintf("≤ %g", part), func(_, ratio float64) bool { return ratio <= part }}
}

// atLeast is a goal of figures that are better the greater they are.
func atLeast(part float64) *goal {
	return &goal{fmt.Sprintf("≥ %g", part), func(_, ratio float64) bool { return ratio >= part }}
}

// below is a goal of the reference's figure alone.
func below(figure float64, text string) *goal {
	return &goal{"< " + text, func(reference, _ float64) bool { return reference < figure }}
}

// verdict tells whether a goal was met.
func (g *goal) verdict(figure, ratio float64) string {
	if g.met(figure, ratio) {
		return g.text + ": met"
	}
	return g.text + ": **missed**"
}
