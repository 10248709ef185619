package check

import "github.com/evenkeel/evenkeel/pkg/law"

// What a judgement consists of is defined where requirements are weighed.
type (
	Verdict       = law.Verdict
	Observation   = law.Observation
	Violation     = law.Violation
	DeviationSeen = law.DeviationSeen
	Result        = law.Result
)

// Verdicts are all verdicts, in the order in which reports list them.
var Verdicts = law.Verdicts

// The verdicts.
const (
	Pass          = law.Pass
	Fail          = law.Fail
	Deviation     = law.Deviation
	Inconclusive  = law.Inconclusive
	NotApplicable = law.NotApplicable
	Skipped       = law.Skipped
)

// Worst returns the outcome of results taken together; see law.Worst.
func Worst(results []Result) Verdict { return law.Worst(results) }
