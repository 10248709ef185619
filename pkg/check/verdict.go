package check

import "github.com/evenkeel/evenkeel/pkg/law"

// A judgement consists of types that package law defines, since laws are weighed there.
type (
	// Verdict is what came of one requirement or of several together.
	Verdict = law.Verdict
	// Observation is how often a history shows something that a requirement needs.
	Observation = law.Observation
	// Violation is one breach of a requirement, with the events that show it.
	Violation = law.Violation
	// Example is an obligation that was met, with the events that show it.
	Example = law.Example
	// DeviationSeen is a known deviation of a published release, recognized in a history.
	DeviationSeen = law.DeviationSeen
	// Result is the verdict of one requirement with its ledger, reasons and violations.
	Result = law.Result
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
