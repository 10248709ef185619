// Package conformance plays the whole catalog against one target, as one campaign: it plans
// the runs, plays each as a child process, keeps a journal, and makes one report of all of
// them. A run that crashes costs that run alone, and a campaign that was killed goes on
// where it was.
//
// A campaign is a folder:
//
//	plan.yaml         what is to be played; written first, and never changed
//	journal.jsonl     what was started and what came of it; only ever appended to
//	runs/             a bundle for each run, and beside it what evenkeel printed
//	conformance.yaml  the report, which follows from plan, journal and bundles
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package conformance

import "github.com/evenkeel/evenkeel/pkg/bundle"

// The files of a campaign.
const (
	PlanFile    = "plan.yaml"
	JournalFile = "journal.jsonl"
	ReportFile  = "conformance.yaml"
	RunsDir     = "runs"
)

// Files are all that the folder of a campaign has.
var Files = []string{PlanFile, JournalFile, ReportFile, RunsDir, bundle.SignatureFile}

// APIVersion of plans and reports.
const APIVersion = "evenkeel.dev/v1alpha1"

// Bounds of a campaign that is read. It may come from an unknown source.
const (
	// maxLines is how many runs a plan may have.
	maxLines = 100_000
	// maxTries is how often a run may be tried at most.
	maxTries = 10
	// maxFile is how many bytes plan, journal and report may have, each.
	maxFile = 256 << 20
)
