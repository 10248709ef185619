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
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Harness is the evenkeel that planned, played and judged.
	Harness Program `json:"harness"`
	// Suite is the version of the requirements and laws that judged.
	Suite string `json:"suite"`
	// Plan and Journal are the SHA-256 of these files, in hexadecimal.
	Plan    string `json:"plan"`
	Journal string `json:"journal"`
	// Implementation is the organization that is responsible for the control plane; absent
	// where the topology names none.
	Implementation *history.Implementation `json:"implementation,omitempty"`
	Target         Target                  `json:"target"`
	Asked          Asked                   `json:"asked"`
	// Began and Ended are when the first and the last run began, in UTC; absent where no run
	// has left a bundle.
	Began string `json:"began,omitempty"`
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
	Topology     string   `json:"topology"`
	Provider     string   `json:"provider"`
	Distribution string   `json:"distribution"`
	Members      []string `json:"members"`
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
	ID      requirement.ID    `json:"id"`
	Level   requirement.Level `json:"level"`
	Promise string            `json:"promise"`
	Verdict check.Verdict     `json:"verdict"`
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
	// Met, Late, Unclear, Excused and Superseded count its obligations over all tries, as
	// reports of runs do; Late has the broken ones too.
	Met        int64 `json:"met"`
	Late       int64 `json:"late,omitempty"`
	Unclear    int64 `json:"unclear,omitempty"`
	Excused    int64 `json:"excused,omitempty"`
	Superseded int64 `json:"superseded,omitempty"`
	// Observations over all tries, as reports of runs count them.
	Observations int64 `json:"observations"`
}

// MayFail is the exact (Clopper–Pearson) one-sided upper bound on the share of runs in which
// a requirement breaks.
type MayFail struct {
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
	Line int `json:"line"`
	Try  int `json:"try"`
	// Bundle is the digest of the evidence, and Events are numbers of events of its history.
	Bundle  string  `json:"bundle"`
	Message string  `json:"message"`
	Events  []int64 `json:"events,omitempty"`
}

// LineReport is a line of the plan with what came of it.
type LineReport struct {
	Line     int    `json:"line"`
	Scenario string `json:"scenario"`
	Seed     int64  `json:"seed"`
	// Verdict of all tries together; skipped if there was none or the target cannot be played
	// on with the scenario.
	Verdict check.Verdict `json:"verdict"`
	Tries   []TryReport   `json:"tries,omitempty"`
}

// TryReport is one try of a line.
type TryReport struct {
	// Run is the identifier of the run, and Date when it began.
	Run     string        `json:"run,omitempty"`
	Date    string        `json:"date,omitempty"`
	Verdict check.Verdict `json:"verdict"`
	// Bundle is the digest of the evidence; absent where the try left no bundle that counts.
	Bundle string `json:"bundle,omitempty"`
	// Broken and Open are the requirements that the run shows broken or left open.
	Broken []requirement.ID `json:"broken,omitempty"`
	Open   []requirement.ID `json:"open,omitempty"`
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
