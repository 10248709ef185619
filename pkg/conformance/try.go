package conformance

import "slices"

// try is one that has ended, with what its bundle says; nil where there is none.
type try struct {
	Ended
	*outcome
}

// over is whether a line needs no further try: something was broken, it was refused, it was
// tried often enough, or all that it judges is conclusive.
func over(plan *Plan, line Line, tries []try) bool {
	if len(tries) >= plan.Asked.Tries {
		return true
	}
	if slices.ContainsFunc(tries, func(t try) bool { return t.Refused != "" || t.outcome != nil && statusOf(t.verdict) == 1 }) {
		return true
	}
	return len(tries) > 0 && len(openOf(line, tries)) == 0
}
