// Package report turns a judgement into documents for people and CI systems: the report of
// a bundle, JUnit, and a table for the terminal. They depend only on the judgement and the
// digests of the bundle's files, so judging a bundle again gives the same bytes.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package report

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// APIVersion and Kind of a report of one run. That of a campaign is a ConformanceReport, of
// pkg/conformance.
const (
	APIVersion = "evenkeel.dev/v1alpha1"
	Kind       = "RunReport"
)

// ConformanceReport is the result of one run on one control plane. It follows from the
// history of the run, so that every reader of the bundle can generate it again, byte for
// byte. Validate checks the rules that it follows.
type ConformanceReport struct {
	// APIVersion is the version of this form.
	APIVersion string `json:"apiVersion"`
	// Kind says what the document is.
	Kind string `json:"kind"`
	// Run is the identifier of the run.
	Run string `json:"run"`
	// Date is when the run began, in UTC, in the notation of RFC 3339.
	Date string `json:"date"`
	// Seed from which all randomness of the run is derived.
	Seed int64 `json:"seed"`
	// Harness is the evenkeel that recorded, and the version of the rules that it judged by.
	Harness Harness `json:"harness"`
	// Implementation is the organization that is responsible for the control plane; absent
	// where the topology names none.
	Implementation *history.Implementation `json:"implementation,omitempty"`
	// Target is the control plane that was tested.
	Target Target `json:"target"`
	// Scenario that was played, by name.
	Scenario string `json:"scenario"`
	// Digests of the files that the report follows from, and of those that say which
	// scenario ran on which topology.
	Digests Digests `json:"digests"`
	// Defect is the ID of the defect that was planted on purpose, if any, or of several with
	// commas between.
	Defect string `json:"defect,omitempty"`
	// Strict is whether documented deviations counted as failures.
	Strict bool `json:"strict,omitempty"`
	// Verdict of all requirements that the run was asked to judge, taken together, and
	// of others that its history shows violated. A requirement that could not be judged
	// makes a pass inconclusive.
	Verdict check.Verdict `json:"verdict"`
	// Statistics of the run as a whole.
	Statistics Statistics `json:"statistics"`
	// Complete is whether the scenario was played to its end.
	Complete bool `json:"complete"`
	// Message of the harness at the end of the run.
	Message string `json:"message,omitempty"`
	// Events is how many events of the history were judged.
	Events int64 `json:"events"`
	// Damage is what is missing or unreadable in the history, a sentence each.
	Damage []string `json:"damage,omitempty"`
	// Doubts are reasons not to trust any pass of this run.
	Doubts []string `json:"doubts,omitempty"`
	// Profiles that the run claims, with their outcomes.
	Profiles []Profile `json:"profiles"`
	// Results in the order of the catalog: one for each requirement that the scenario
	// lists and the run was asked to judge, and one for each other requirement that the
	// history shows violated.
	Results []check.Result `json:"results"`
	// NotJudged are requirements that the run was asked to judge, that its scenario
	// cannot judge, and that its history does not show violated.
	NotJudged []requirement.ID `json:"notJudged,omitempty"`
	// Faults that were injected, each with its witness.
	Faults []check.FaultSeen `json:"faults,omitempty"`
	// Etcd is the health of all members' etcd at each check, which the harness makes after
	// a power cut.
	Etcd []check.EtcdSeen `json:"etcd,omitempty"`
	// Balancer counts the reads through the load balancer, where there is one.
	Balancer *check.BalancerSeen `json:"balancer,omitempty"`
	// States in which the control plane was held, with every member's release.
	States []State `json:"states,omitempty"`

	// Asked are the requirements that the run was asked to judge. They serve to repeat
	// the run, and are not part of the file.
	Asked []requirement.ID `json:"-"`
	// Took is the duration of the run, by its history. It serves to compare runs, and is
	// not part of the file.
	Took time.Duration `json:"-"`
	// Recorded are the digests of the other files as the history has them, by name. The
	// verification compares them with the files. They are not part of the report's file.
	Recorded map[string]string `json:"-"`
}

// Harness is the evenkeel that recorded a run, and the rules that judged it.
type Harness struct {
	// Version of the evenkeel that recorded.
	Version string `json:"version"`
	// Digest is the SHA-256, in hexadecimal, of the program that recorded; absent where
	// the history does not have it.
	Digest string `json:"digest,omitempty"`
	// Suite is the version of the requirements and laws that judged: a SHA-256, in
	// hexadecimal, of the catalog with its profiles, deviations and graduations, and of what each
	// law counts, needs and relies on.
	Suite string `json:"suite"`
	// Schema is the exact version of the form of this report: a SHA-256, in hexadecimal,
	// of its JSON schema without the descriptions.
	Schema string `json:"schema"`
}

// Digests are the SHA-256 of files of the bundle, in hexadecimal. The digest of the report
// itself is only in SHA256SUMS.
type Digests struct {
	// History is the digest of the history as plain text, whether or not the bundle has it
	// compressed.
	History string `json:"history"`
	// Scenario is the digest of scenario.yaml; absent where there is none, as for the
	// following.
	Scenario string `json:"scenario,omitempty"`
	// Topology is the digest of topology.yaml.
	Topology string `json:"topology,omitempty"`
	// Environment is the digest of environment.yaml.
	Environment string `json:"environment,omitempty"`
}

// Evidence is a SHA-256, in hexadecimal, of the digests of all that verdicts follow from. It
// stays the same where a bundle is published: with its history compressed, without logs and
// without what is made of the report.
func (d Digests) Evidence() string {
	return bundle.ContentDigest(fmt.Appendf(nil, "history %s\nscenario %s\ntopology %s\nenvironment %s\n", d.History, d.Scenario, d.Topology, d.Environment))
}

// State is a time in which the harness held the control plane without changes.
type State struct {
	// Name of the state in the scenario.
	Name string `json:"name"`
	// Mixed is whether members ran different releases.
	Mixed bool `json:"mixed,omitempty"`
	// Releases is the release that each member ran.
	Releases map[string]string `json:"releases"`
}

// New returns the report of a judgement by all requirements, for the claimed profiles. It
// leaves the digests to the caller, since it does not read files.
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
	r.Profiles = claimed(profiles, r.Asked, verdicts)
	r.Statistics = r.statistics()
	return r
}

// dateForm is the format of a report's date.
const dateForm = "2006-01-02T15:04:05Z"

// present returns an empty list for nil, so that readers of the report need not handle two
// kinds of empty lists.
func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// verdicts returns the verdict of each judged requirement.
func (r *ConformanceReport) verdicts() map[requirement.ID]check.Verdict {
	out := map[requirement.ID]check.Verdict{}
	for _, res := range r.Results {
		out[res.ID] = res.Verdict
	}
	return out
}

// weigh returns the verdict of the whole report.
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

// YAML encodes the report; the same report gives the same bytes.
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

// firstWide is the first character that JSON escapes as a surrogate pair, which YAML does
// not know. YAML accepts all these characters unescaped.
const firstWide = 0x10000

// printable escapes the characters of a JSON document that YAML does not accept: a server
// may answer with any bytes, and the report must still be written.
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
