package law

import (
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Verdict is the outcome of judging one requirement. Fail outweighs Inconclusive, which
// outweighs Deviation and Pass. NotApplicable and Skipped are not part of this order.
type Verdict string

// Verdicts are all verdicts, in the order in which reports list them.
var Verdicts = []Verdict{Pass, Fail, Deviation, Inconclusive, NotApplicable, Skipped}

// The verdicts.
const (
	// Pass: enough was seen, and all of it complies with the requirement.
	Pass Verdict = "pass"
	// Fail: the requirement was violated, and there is evidence.
	Fail Verdict = "fail"
	// Inconclusive: no violation was found, but too little was seen, or the evidence may
	// be incomplete.
	Inconclusive Verdict = "inconclusive"
	// Deviation: enough was seen, and the requirement was violated only in ways in which
	// the distribution is documented to differ on purpose. It counts neither as a pass nor
	// as a failure.
	Deviation Verdict = "deviation"
	// NotApplicable: the control plane under test has nothing to which the requirement
	// applies, or it is an external cluster that does not provide what the test needs.
	NotApplicable Verdict = "not-applicable"
	// Skipped: no law judged it.
	Skipped Verdict = "skipped"
)

// Observation counts one kind of thing that a check must have seen, so that a
// green verdict is not an empty one.
type Observation struct {
	// What was counted, in words.
	What string `json:"what"`
	// Seen is how many there were.
	Seen int64 `json:"seen"`
	// Need is the least that makes a pass.
	Need int64 `json:"need"`
}

// WithFewest ends the words of what is counted for each member alone.
const WithFewest = ", of the member with the fewest"

// Violation is one breach of a requirement.
type Violation struct {
	// Message says in one sentence what was promised and what was seen.
	Message string `json:"message"`
	// Evidence are the numbers of the history's events that show it: the member seq of
	// each.
	Evidence []int64 `json:"evidence,omitempty"`
}

// DeviationSeen is a documented deviation that was seen.
type DeviationSeen struct {
	// ID of the deviation in the list of those that are documented.
	ID string `json:"id"`
	// Differs says in one sentence what is otherwise on purpose.
	Differs string `json:"differs"`
	// Source is where those who make the distribution say so.
	Source string `json:"source"`
	// Count is how often it was seen.
	Count int64 `json:"count"`
	// Examples are the first times.
	Examples []Violation `json:"examples"`
}

// Result is the verdict on one requirement with all that stands behind it.
type Result struct {
	// ID of the requirement.
	ID requirement.ID `json:"id"`
	// Level of the requirement: MUST is core, SHOULD extended.
	Level requirement.Level `json:"level"`
	// Promise is the sentence that was judged.
	Promise string `json:"promise"`
	// Verdict on it.
	Verdict Verdict `json:"verdict"`
	// Unlisted is whether the run was not to judge the requirement: its scenario does not
	// list it, or --profile or --focus leave it out. Of unlisted requirements a report
	// has only those that fail.
	Unlisted bool `json:"unlisted,omitempty"`
	// Reasons say why a verdict is not pass, in words; empty for a pass.
	Reasons []string `json:"reasons,omitempty"`
	// Observations are how often the promise was put to the test, by kind.
	Observations []Observation `json:"observations,omitempty"`
	// Violations are the first breaches found, in the order of the history.
	Violations []Violation `json:"violations,omitempty"`
	// ViolationCount is how many breaches there were in all.
	ViolationCount int64 `json:"violationCount,omitempty"`
	// Deviations are what is not among the violations because it is documented.
	Deviations []DeviationSeen `json:"deviations,omitempty"`
	// Bounds are how long something may take, or how much of it there may be.
	Bounds []requirement.Bound `json:"bounds,omitempty"`
	// Tolerances are what is allowed beside the promise because it cannot be told apart.
	Tolerances []requirement.Bound `json:"tolerances,omitempty"`
	// Obligations are how often each ending came; nil where no law judged.
	Obligations *Counts `json:"obligations,omitempty"`
	// Kept are examples of obligations that were met, the first and the last. They serve to
	// look at a pass, follow from the history, and are not part of a report.
	Kept []Example `json:"-"`
}

// Example is an obligation that was met.
type Example struct {
	// About is what it was about, such as the key of a Lease.
	About string
	// Events are the numbers of the events that show it.
	Events []int64
}

// Cases is how often the promise was put to the test: how many obligations were kept or not.
// Those that were excused or superseded, or that nothing is known of, tested nothing.
func (r Result) Cases() int64 {
	if r.Obligations == nil {
		return 0
	}
	return r.Obligations.Met + r.Obligations.Late + r.Obligations.Broken
}

// Worst gives the outcome of results taken together: Fail if any failed, else
// Inconclusive if any is none of Pass, Deviation and NotApplicable, else Pass.
// Where nothing is a Pass they are Inconclusive: nothing was seen to be kept.
func Worst(results []Result) Verdict {
	worst := Pass
	judged := false
	for _, r := range results {
		switch r.Verdict {
		case Fail:
			return Fail
		case Pass:
			judged = true
		case Deviation, NotApplicable:
		default:
			worst = Inconclusive
		}
	}
	if !judged {
		return Inconclusive
	}
	return worst
}
