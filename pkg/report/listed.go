package report

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Every history is judged by every requirement. The scenario lists the requirements
// that it puts to the test, and --profile and --focus narrow that list; only a listed
// requirement can pass. The run makes no attempt to test the others, so an unlisted
// requirement that seems to hold proves nothing and is not reported. A breach is
// evidence in any run, so an unlisted requirement that fails is reported as a failure.

// reported selects the results that a report has, and marks the unlisted ones.
func reported(listed []string, results []check.Result) []check.Result {
	out := make([]check.Result, 0, len(results))
	for _, res := range results {
		var report bool
		if report, res.Unlisted = tells(listed, res.ID, res.Verdict); report {
			out = append(out, res)
		}
	}
	return out
}

// Standing selects the requirements to show while a scenario is played, by the rule
// that decides about the results of the report. Listed is history.Header.Judges: the
// requirements that the scenario lists, narrowed by --profile and --focus.
func Standing(listed []string, progress []check.Progress) []check.Progress {
	out := make([]check.Progress, 0, len(progress))
	for _, p := range progress {
		var report bool
		if report, p.Unlisted = tells(listed, p.ID, p.Verdict); report {
			out = append(out, p)
		}
	}
	return out
}

// tells decides whether a verdict is reported, and whether its requirement is unlisted.
func tells(listed []string, id requirement.ID, verdict check.Verdict) (report, unlisted bool) {
	unlisted = !slices.Contains(listed, string(id))
	return !unlisted || verdict == check.Fail, unlisted
}

// UnlistedNote explains a failure that a reader of the scenario does not expect.
const UnlistedNote = "the scenario does not list this requirement, or --profile or --focus leave it out, but the history shows a breach"
