// Package report turns a judgement into what people and CI systems read: the
// report of a bundle, JUnit, and a table for the terminal. All of it follows from the
// judgement and the digests of the bundle's files, so judging a bundle again gives the
// same bytes.
package report

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// APIVersion and Kind of a report.
const (
	APIVersion = "evenkeel.dev/v1alpha1"
	Kind       = "ConformanceReport"
)

// ConformanceReport is what one run found out about one control plane. It follows
// from the history of the run, so that whoever has the bundle can make it again, to
// the byte. Validate has the rules that it keeps.
type ConformanceReport struct {
	// APIVersion is the version of this form.
	APIVersion string `json:"apiVersion"`
	// Kind says what the document is.
	Kind string `json:"kind"`
	// Run is the identifier of the run.
	Run string `json:"run"`
	// Date is when the run began, in UTC, in the notation of RFC 3339.
	Date string `json:"date"`
	// Seed is what all randomness of the run was derived from.
	Seed int64 `json:"seed"`
	// Harness is the evenkeel that recorded, and the rules that were judged by.
	Harness Harness `json:"harness"`
	// Implementation is who answers for the control plane; absent where the topology
	// named nobody.
	Implementation *history.Implementation `json:"implementation,omitempty"`
	// Target is the control plane that was tested.
	Target Target `json:"target"`
	// Scenario that was played, by name.
	Scenario string `json:"scenario"`
	// Digests of the files that the report follows from, and of those that tell what
	// was played where.
	Digests Digests `json:"digests"`
	// Defect is the ID of the defect that was planted on purpose, if any.
	Defect string `json:"defect,omitempty"`
	// Strict is whether documented deviations counted as failures.
	Strict bool `json:"strict,omitempty"`
	// Verdict of all requirements that the run was asked to judge, taken together, and
	// of those that its history shows broken besides. What could not be judged makes a
	// pass inconclusive.
	Verdict check.Verdict `json:"verdict"`
	// Statistics of the run as a whole.
	Statistics Statistics `json:"statistics"`
	// Complete is whether the scenario was played to its end.
	Complete bool `json:"complete"`
	// Message is what the harness said of the end of the run.
	Message string `json:"message,omitempty"`
	// Events is how many events of the history were judged.
	Events int64 `json:"events"`
	// Damage is what is missing or unreadable in the history, a sentence each.
	Damage []string `json:"damage,omitempty"`
	// Doubts are reasons not to trust any pass of this run.
	Doubts []string `json:"doubts,omitempty"`
	// Profiles that the run claims, with their outcomes.
	Profiles []Profile `json:"profiles"`
	// Results in the order of the catalogue: one for each requirement that the scenario
	// lists and the run was asked to judge, and one for each other requirement that the
	// history shows broken.
	Results []check.Result `json:"results"`
	// NotJudged are requirements that the run was asked to judge, that its scenario
	// cannot judge, and that its history does not show broken.
	NotJudged []requirement.ID `json:"notJudged,omitempty"`
	// Faults that were injected, each with its witness.
	Faults []check.FaultSeen `json:"faults,omitempty"`
	// Etcd is how all members' etcd were where that was looked at, which is after
	// a power cut.
	Etcd []check.EtcdSeen `json:"etcd,omitempty"`
	// Balancer is how clients of the load balancer fared, where there is one.
	Balancer *check.BalancerSeen `json:"balancer,omitempty"`
	// States in which the control plane was held, with every member's release.
	States []State `json:"states,omitempty"`

	// Asked are the requirements that the run was asked to judge. They are for playing
	// the run again, and no part of the file.
	Asked []requirement.ID `json:"-"`
	// Took is how long the run was, by its history. It is for comparing runs, and no
	// part of the file.
	Took time.Duration `json:"-"`
	// Recorded are the digests of the files beside the history as the history has
	// them, by name. Whoever verifies compares them with the files; they are no part of
	// the file.
	Recorded map[string]string `json:"-"`
}

// Harness is what a run was recorded with and judged by.
type Harness struct {
	// Version of the evenkeel that recorded.
	Version string `json:"version"`
	// Digest is the SHA-256, in hexadecimal, of the program that recorded; absent where
	// the history does not have it.
	Digest string `json:"digest,omitempty"`
	// Suite is the version of the requirements and checks that judged: a SHA-256, in
	// hexadecimal, of the catalogue with its profiles, deviations and graduations, and of what each
	// check counts, needs and relies on.
	Suite string `json:"suite"`
	// Schema is the version of the form of this report to the letter: a SHA-256, in
	// hexadecimal, of its JSON schema without the descriptions.
	Schema string `json:"schema"`
}

// Digests are the SHA-256 of files of the bundle, in hexadecimal. That of the report
// itself is in SHA256SUMS alone.
type Digests struct {
	// History is that of the history as plain text, whether or not the bundle has it
	// compressed.
	History string `json:"history"`
	// Scenario is that of scenario.yaml; absent where there is none, as for the
	// following.
	Scenario string `json:"scenario,omitempty"`
	// Topology is that of topology.yaml.
	Topology string `json:"topology,omitempty"`
	// Environment is that of environment.yaml.
	Environment string `json:"environment,omitempty"`
}

// State is a stretch of time in which the control plane was held, and left alone.
type State struct {
	// Name of the state in the scenario.
	Name string `json:"name"`
	// Mixed is whether members ran different releases.
	Mixed bool `json:"mixed,omitempty"`
	// Releases is what each member ran.
	Releases map[string]string `json:"releases"`
}

// New makes the report of a judgement by all requirements, for the profiles that were
// claimed. The digests are those of files, which it does not know.
func New(j *check.Judgement, profiles []requirement.Profile) *ConformanceReport {
	h := j.Header
	r := &ConformanceReport{
		APIVersion: APIVersion, Kind: Kind,
		Run: h.Run, Date: h.Started.UTC().Format(dateForm), Seed: h.Seed,
		Harness:        Harness{Version: h.Harness, Digest: h.HarnessDigest, Suite: check.Suite(), Schema: SchemaDigest()},
		Implementation: h.Implementation,
		Target:         newTarget(j),
		Scenario:       h.Scenario, Defect: h.Defect, Strict: h.Strict,
		Complete: j.Complete, Message: j.EndMessage, Events: j.Events, Damage: j.Damage, Doubts: j.Doubts,
		Results: reported(h.Judges, j.Results), Faults: j.Faults, Etcd: j.Etcd, Balancer: j.Balancer, States: states(j.Holds),
		Took: j.Took, Recorded: h.Files,
	}
	r.Asked = asked(h, profiles)
	verdicts := r.verdicts()
	for _, id := range r.Asked {
		if _, judged := verdicts[id]; !judged {
			r.NotJudged = append(r.NotJudged, id)
		}
	}
	r.Verdict = r.weigh()
	r.Profiles = claimed(profiles, r.Asked, verdicts, r.foreign())
	r.Statistics = r.statistics()
	return r
}

// dateForm is that of a report's date.
const dateForm = "2006-01-02T15:04:05Z"

// present makes a list one that is there, if it is empty: readers of the form need
// not know of two ways to say nothing.
func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// verdicts of what was judged.
func (r *ConformanceReport) verdicts() map[requirement.ID]check.Verdict {
	out := map[requirement.ID]check.Verdict{}
	for _, res := range r.Results {
		out[res.ID] = res.Verdict
	}
	return out
}

// weigh gives the verdict of the whole.
func (r *ConformanceReport) weigh() check.Verdict {
	verdict := check.Worst(r.Results)
	if len(r.NotJudged) > 0 && verdict == check.Pass {
		return check.Inconclusive
	}
	return verdict
}

func states(holds []check.HoldSeen) []State {
	var out []State
	for _, h := range holds {
		out = append(out, State{Name: h.Name, Mixed: history.Mixed(h.Releases), Releases: h.Releases})
	}
	return out
}

// YAML of the report; the same report gives the same bytes.
func (r *ConformanceReport) YAML() ([]byte, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the report: %w", err)
	}
	out, err := yaml.JSONToYAML(printable(raw))
	if err != nil {
		return nil, fmt.Errorf("encode the report: %w", err)
	}
	return out, nil
}

// firstWide is the first character that takes two of four hexadecimal digits to
// escape, which YAML does not know of. It takes all of these as they are.
const firstWide = 0x10000

// printable escapes in a JSON document what YAML does not take as it is: a server may
// answer with anything, and that must not cost anybody the report.
func printable(document []byte) []byte {
	out := make([]byte, 0, len(document))
	for _, r := range string(document) {
		if r < unicode.MaxASCII || r >= firstWide || unicode.IsPrint(r) {
			out = utf8.AppendRune(out, r)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
