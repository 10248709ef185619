package site

import (
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/report/results"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// Model is what a folder of reports says.
type Model struct {
	// Dir is the folder.
	Dir string
	// Requirements are the rows of the matrix, in the order of the catalog.
	Requirements []requirement.Requirement
	// Targets are the columns: those with results, then campaigns, then those of which there
	// are only single runs.
	Targets []*Target
	// Runs are all bundles, by their paths.
	Runs []*Run
	// Documents are the Markdown files, by their paths.
	Documents []*Document
	// Findings are the sections of FINDINGS.md.
	Findings []Finding
	// Skew are the recorded runs of hack/skew; nil if there are none.
	Skew *Skew

	// files are all regular files below the folder, by their paths with slashes.
	files map[string]bool
	// scenarios are those that ship with evenkeel, each with what it judges.
	scenarios []shipped
}

// Target is a control plane that was tested: a column of the matrix.
type Target struct {
	// Name is unique, and safe in the name of a file and in an address.
	Name string
	// Title is the heading of the column, such as "the reference, local".
	Title string
	// Results are what the runs of scenarios came to; nil for a campaign.
	Results *results.Target
	// Campaign is the report of a campaign, and CampaignDir its folder below the model's.
	Campaign    *conformance.Report
	CampaignDir string
	// Runs are the published bundles of this target.
	Runs []*Run

	// alone is whether Results were made of Runs, since there is nothing else.
	alone bool
	plane plane
}

// Run is a bundle below the folder.
type Run struct {
	// Path of the bundle below the folder, with slashes.
	Path   string
	Report *report.ConformanceReport
	// Target that it belongs to; nil where a defect was planted, since such a run says
	// nothing of a control plane.
	Target *Target
}

// plane identifies a control plane that results and bundles may have in common.
type plane struct {
	provider, distribution string
	// release at which members begin; empty where the scenario decides.
	release string
}

// holds is whether runs of the other belong to this one.
func (p plane) holds(other plane) bool {
	return p.provider == other.provider && p.distribution == other.distribution && (p.release == "" || p.release == other.release)
}

// result is what the run says of a requirement.
func (r *Run) result(id requirement.ID) (checked, bool) {
	for _, res := range r.Report.Results {
		if res.ID == id {
			return res, true
		}
	}
	return checked{}, false
}
