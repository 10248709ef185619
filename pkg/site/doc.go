// Package site makes a model of a folder of reports, such as reports/ of the repository, and
// renders it twice: as the table of requirements and targets in Markdown, and as a static
// site, which needs no network and no JavaScript to be read.
//
// A folder of reports holds, anywhere below it and each optional:
//
//	results/*.yaml    what came of the runs on a target, package results
//	report.yaml       in a bundle, the report of one run
//	conformance.yaml  in the folder of a campaign, the report of the whole catalog
//	*.md              documents; FINDINGS.md has the findings, results.md is the table
//	skew.yaml         what the runs of hack/skew came to
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package site

// The files that the model is made from, beside bundles and campaigns.
const (
	// ResultsDir has a file for each target.
	ResultsDir = "results"
	// TableFile is the table in Markdown. The site has the matrix in its place.
	TableFile = "results.md"
	// FindingsFile has the findings.
	FindingsFile = "FINDINGS.md"
	// SkewFile has the recorded runs of hack/skew.
	SkewFile = "skew.yaml"
)

// Bounds of a folder that is read. It may come from an unknown source.
const (
	// maxText is how many bytes a report, a document or a file of results may have.
	maxText = 64 << 20
	// maxEntries is how many files and folders a folder of reports may have.
	maxEntries = 100_000
)
