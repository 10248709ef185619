package verify

import (
	"errors"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/report"
)

// otherRules reports whether a report that differs from what the history gives was written
// by other rules than this evenkeel's: by another suite of requirements and checks, or in
// another form. The other differences may follow from that, or the report may be forged;
// only the evenkeel with the same rules can decide that.
//
// For a report by the same rules it says which of the rules the report itself breaks.
func (o *Outcome) otherRules(file string, told []byte) bool {
	var written struct {
		Harness report.Harness `json:"harness"`
	}
	here := o.Report.Harness
	// A form of another version may have anything there, and then names no rules.
	err := yaml.Unmarshal(told, &written)
	there := written.Harness
	if err != nil || there.Suite != here.Suite || there.Schema != here.Schema {
		o.problem("%s was written by other rules than those of this evenkeel (suite %q and schema %q, and here %q and %q): verify it with the evenkeel that wrote it, or, if it is your own, write it anew with `evenkeel judge --update`",
			file, short(there.Suite), short(there.Schema), short(here.Suite), short(here.Schema))
		return true
	}
	parsed := &report.ConformanceReport{}
	var invalid *report.Invalid
	if yaml.UnmarshalStrict(told, parsed) == nil && errors.As(parsed.Validate(), &invalid) {
		for _, rule := range invalid.Rules[:min(len(invalid.Rules), maxDifferences)] {
			o.problem("%s breaks a rule: %s", file, rule)
		}
	}
	return false
}

// shownDigest is how much of a digest a sentence has.
const shownDigest = 12

// short is the beginning of a digest, which is enough to tell two apart.
func short(digest string) string {
	if digest == "" {
		return "none"
	}
	return digest[:min(len(digest), shownDigest)]
}
