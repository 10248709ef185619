package conformance

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Kind of a report of a campaign. That of a single run is another kind, report.Kind.
const Kind = "ConformanceReport"

// Report is the result of all runs against one target. It follows from the plan, the journal
// and the bundles, which it names by digest, so that every reader can compute it again.
type Report struct {
	// APIVersion is the version of this form.
	APIVersion string `json:"apiVersion"`
	// Kind says what the document is.
	Kind string `json:"kind"`
	// Harness is the evenkeel that planned, played and judged.
	Harness Program `json:"harness"`
	// Suite is the version of the requirements and laws that judged.
	Suite string `json:"suite"`
	// Plan is the SHA-256 of the plan, in hexadecimal.
	Plan string `json:"plan"`
	// Journal is the SHA-256 of the journal, in hexadecimal.
	Journal string `json:"journal"`
	// Implementation is the organization that is responsible for the control plane; absent
	// where the topology names none.
	Implementation *history.Implementation `json:"implementation,omitempty"`
	// Target is the control plane that was tested.
	Target Target `json:"target"`
	// Asked is what the campaign was asked for.
	Asked Asked `json:"asked"`
	// Began is when the first run began, in UTC; absent where no run has left a bundle.
	Began string `json:"began,omitempty"`
	// Ended is when the last run began, in UTC; absent where no run has left a bundle.
	Ended string `json:"ended,omitempty"`
	// Holds says until when the result is meant to hold.
	Holds Holds `json:"holds"`
	// Verdict of all requirements that were asked for, and of others that a run shows broken.
	Verdict check.Verdict `json:"verdict"`
	// Counts of the requirements by verdict.
	Counts map[check.Verdict]int `json:"counts"`
	// Runs counts the lines of the plan.
	Runs Runs `json:"runs"`
	// Profiles of which a requirement was asked for, with their outcomes.
	Profiles []report.Profile `json:"profiles"`
	// Requirements in the order of the catalog.
	Requirements []Requirement `json:"requirements"`
	// LeftOut are scenarios that could judge something and cannot be played on the target.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	// Lines of the plan, each with all its tries.
	Lines []LineReport `json:"lines"`
}

// Target is the control plane that was tested.
type Target struct {
	// Topology is the file, or the name of one that ships with evenkeel.
	Topology string `json:"topology"`
	// Provider says how members run.
	Provider string `json:"provider"`
	// Distribution is what runs.
	Distribution string `json:"distribution"`
	// Members of the control plane, by name.
	Members []string `json:"members"`
	// Releases that members began or were started at, in the order in which they came.
	Releases []string `json:"releases"`
}

// Holds says until when a result is meant to hold.
type Holds struct {
	// Until is a date, a year after the last run; absent where there was none.
	Until string `json:"until,omitempty"`
	// Unless are events that end it before.
	Unless []string `json:"unless"`
}

// Runs counts lines of a plan.
type Runs struct {
	// Planned is how many there are.
	Planned int `json:"planned"`
	// Kept are those in which nothing that was judged was broken, and nothing stayed open.
	Kept int `json:"kept"`
	// Broken are those that show a breach.
	Broken int `json:"broken"`
	// Open are those that stayed inconclusive in all tries or left no verdict.
	Open int `json:"open"`
	// Refused are those that the target cannot be played on with.
	Refused int `json:"refused"`
	// Unplayed are those that were not played to an end.
	Unplayed int `json:"unplayed"`
	// Tries of all lines.
	Tries int `json:"tries"`
}

// Requirement is what all runs say of a requirement.
type Requirement struct {
	// ID of the requirement.
	ID requirement.ID `json:"id"`
	// Level of the requirement: MUST is core, SHOULD extended.
	Level requirement.Level `json:"level"`
	// Promise is the sentence that was judged.
	Promise string `json:"promise"`
	// Verdict of all runs that were to judge it, and of others that show it broken.
	Verdict check.Verdict `json:"verdict"`
	// Unlisted is whether the campaign was not asked for it: then it is here because a run
	// shows it broken.
	Unlisted bool `json:"unlisted,omitempty"`
	// Reasons say why a verdict is not pass; empty for a pass.
	Reasons []string `json:"reasons,omitempty"`
	// Tested counts how often it was put to the test.
	Tested Tested `json:"tested"`
	// MayFail is the bound on how often it may still break.
	MayFail *MayFail `json:"mayFail,omitempty"`
	// Breaches are the first in each run that shows one, so many at most.
	Breaches []Breach `json:"breaches,omitempty"`
}

// Tested counts how often a requirement was put to the test.
type Tested struct {
	// Planned are the runs that are to judge it.
	Planned int `json:"planned"`
	// Kept are the runs in which it held.
	Kept int `json:"kept"`
	// Broken are the runs that show it broken, whether or not they were to judge it.
	Broken int `json:"broken,omitempty"`
	// Deviated are those in which it was broken only as the distribution documents.
	Deviated int `json:"deviated,omitempty"`
	// Open are those that stayed inconclusive, were not played or left no verdict.
	Open int `json:"open,omitempty"`
	// NotApplicable are those in which the control plane had nothing that it is about.
	NotApplicable int `json:"notApplicable,omitempty"`
	// Refused are those that the target cannot be played on with.
	Refused int `json:"refused,omitempty"`
	// Met are the obligations that were met, over all tries.
	Met int64 `json:"met"`
	// Late are the obligations that were late or broken.
	Late int64 `json:"late,omitempty"`
	// Unclear are the obligations of which the evidence does not say how they ended.
	Unclear int64 `json:"unclear,omitempty"`
	// Excused are the obligations that ended for a reason which the requirement allows.
	Excused int64 `json:"excused,omitempty"`
	// Superseded are the obligations that an earlier one stands for.
	Superseded int64 `json:"superseded,omitempty"`
	// Observations over all tries, as reports of runs count them.
	Observations int64 `json:"observations"`
}

// MayFail is the exact (Clopper–Pearson) one-sided upper bound on the share of runs in which
// a requirement breaks.
type MayFail struct {
	// Broken are the runs that show it broken.
	Broken int `json:"broken"`
	// Runs that were conclusive: those that kept it and those that broke it.
	Runs int `json:"runs"`
	// AtMost is the bound, rounded up, such as 9.9%.
	AtMost string `json:"atMost"`
	// Confidence in the bound, such as 95%.
	Confidence string `json:"confidence"`
}

// Breach is the first breach of a requirement in a run.
type Breach struct {
	// Line of the plan, from 1.
	Line int `json:"line"`
	// Try of the line, from 1.
	Try int `json:"try"`
	// Bundle is the digest of the evidence: a SHA-256, in hexadecimal.
	Bundle string `json:"bundle"`
	// Message says in one sentence what was promised and what was seen.
	Message string `json:"message"`
	// Events are the numbers of the history's events that show it.
	Events []int64 `json:"events,omitempty"`
}

// LineReport is a line of the plan with what came of it.
type LineReport struct {
	// Line is its number, from 1.
	Line int `json:"line"`
	// Scenario that was played, by name.
	Scenario string `json:"scenario"`
	// Seed of the run.
	Seed int64 `json:"seed"`
	// Verdict of all tries together; skipped if there was none or the target cannot be played
	// on with the scenario.
	Verdict check.Verdict `json:"verdict"`
	// Tries of the line, in their order.
	Tries []TryReport `json:"tries,omitempty"`
}

// TryReport is one try of a line.
type TryReport struct {
	// Run is the identifier of the run; absent where the try left no bundle that counts.
	Run string `json:"run,omitempty"`
	// Date is when the run began, in UTC; absent where the try left no bundle that counts.
	Date string `json:"date,omitempty"`
	// Verdict of the run; inconclusive where the try left no verdict, and skipped where the
	// target cannot be played on with the scenario.
	Verdict check.Verdict `json:"verdict"`
	// Bundle is the digest of the evidence; absent where the try left no bundle that counts.
	Bundle string `json:"bundle,omitempty"`
	// Broken are the requirements that the run shows broken.
	Broken []requirement.ID `json:"broken,omitempty"`
	// Open are the requirements that the run left open.
	Open []requirement.ID `json:"open,omitempty"`
	// Why the run is not clean: the first reason of a broken or open requirement, why it was
	// refused, or why it left no verdict.
	Why string `json:"why,omitempty"`
}

// YAML encodes the report; the same report gives the same bytes.
func (r *Report) YAML() ([]byte, error) {
	raw, err := yaml.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the report: %w", err)
	}
	return raw, nil
}
