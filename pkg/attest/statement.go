// Package attest signs bundles offline and tells whether a signature is right: a
// DSSE envelope around an in-toto statement, so that other tools can read it too.
//
// The digests of a bundle, and the report with those that are in it, can be made anew
// by a user who has changed something. The signature is what says that the bundle is,
// to the last byte, the one that its signer saw.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package attest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

const (
	// PayloadType of the envelope.
	PayloadType = "application/vnd.in-toto+json"
	// StatementType is the type of the statement in the envelope.
	StatementType = "https://in-toto.io/Statement/v1"
	// PredicateType of the statement. It is not in-toto's own test-result, whose
	// subjects are what was tested: here they are the evidence.
	PredicateType = "https://evenkeel.dev/attestation/bundle/v1alpha1"
	// CampaignType is the predicate type of a statement on the report of many runs. Its
	// subjects are the report, the plan and the journal, which name all bundles by digest.
	CampaignType = "https://evenkeel.dev/attestation/conformance/v1alpha1"
)

// Statement is an in-toto statement: all files of a bundle are that of the run
// which the predicate names. See
// https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md; four
// fields are no reason for a library.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is a file of the bundle.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// Predicate says what the signer saw the run to have found, so that a reader who has
// the signature alone knows what it is about. Of a campaign, Run is the digest of the plan,
// Date is when the last run began, and Scenario is empty.
type Predicate struct {
	Run          string                           `json:"run"`
	Date         string                           `json:"date"`
	Harness      string                           `json:"harness"`
	Scenario     string                           `json:"scenario"`
	Provider     string                           `json:"provider"`
	Distribution string                           `json:"distribution"`
	Verdict      check.Verdict                    `json:"verdict"`
	Verdicts     map[requirement.ID]check.Verdict `json:"verdicts"`
}

const sha256Name = "sha256"

// NewStatement is the statement on a bundle that has these digests and, by its
// history, this report.
func NewStatement(digests []bundle.Digest, rep *report.ConformanceReport) Statement {
	return newStatement(PredicateType, digests, predicateOf(rep))
}

// NewCampaignStatement is the statement on a campaign whose files have these digests.
func NewCampaignStatement(digests []bundle.Digest, p Predicate) Statement {
	return newStatement(CampaignType, digests, p)
}

func newStatement(kind string, digests []bundle.Digest, p Predicate) Statement {
	s := Statement{Type: StatementType, PredicateType: kind, Predicate: p}
	for _, d := range digests {
		s.Subject = append(s.Subject, Subject{d.Name, map[string]string{sha256Name: d.SHA256}})
	}
	return s
}

func predicateOf(rep *report.ConformanceReport) Predicate {
	p := Predicate{
		Run: rep.Run, Date: rep.Date, Harness: rep.Harness.Version, Scenario: rep.Scenario,
		Provider: rep.Target.Provider, Distribution: rep.Target.Distribution,
		Verdict: rep.Verdict, Verdicts: map[requirement.ID]check.Verdict{},
	}
	for _, res := range rep.Results {
		p.Verdicts[res.ID] = res.Verdict
	}
	return p
}

// Compare gives a sentence for each thing in which a bundle is another one than
// was signed. Where it could not be judged, rep is nil, and only its files are
// compared.
func (s *Statement) Compare(digests []bundle.Digest, rep *report.ConformanceReport) []string {
	if rep == nil {
		return s.compare(PredicateType, "a bundle", digests, nil)
	}
	judged := predicateOf(rep)
	return s.compare(PredicateType, "a bundle", digests, &judged)
}

// CompareCampaign is Compare for a campaign.
func (s *Statement) CompareCampaign(digests []bundle.Digest, p *Predicate) []string {
	return s.compare(CampaignType, "a campaign", digests, p)
}

func (s *Statement) compare(kind, about string, digests []bundle.Digest, judged *Predicate) []string {
	if s.Type != StatementType || s.PredicateType != kind {
		return []string{fmt.Sprintf("it is a statement of type %q with a predicate of type %q, and not one on %s", s.Type, s.PredicateType, about)}
	}
	out := s.compareFiles(digests)
	if judged == nil {
		return out
	}
	return append(out, s.Predicate.compare(*judged)...)
}

// compareFiles compares what was signed with the files that are there.
func (s *Statement) compareFiles(digests []bundle.Digest) []string {
	var out []string
	signed := map[string]string{}
	for _, subject := range s.Subject {
		if _, twice := signed[subject.Name]; twice {
			out = append(out, fmt.Sprintf("it names %q twice", subject.Name))
		}
		signed[subject.Name] = subject.Digest[sha256Name]
	}
	there := map[string]bool{}
	for _, d := range digests {
		there[d.Name] = true
		switch sum, ok := signed[d.Name]; {
		case !ok:
			out = append(out, d.Name+" was not there when it was signed")
		case sum != d.SHA256:
			out = append(out, d.Name+" has changed since it was signed")
		}
	}
	for _, subject := range s.Subject {
		if !there[subject.Name] {
			out = append(out, fmt.Sprintf("%q was signed too, and is missing", subject.Name))
		}
	}
	return out
}

// compare gives a sentence for each thing in which what was judged is another than was signed.
func (p Predicate) compare(judged Predicate) []string {
	var out []string
	if p.Run != judged.Run || p.Date != judged.Date || p.Harness != judged.Harness || p.Scenario != judged.Scenario ||
		p.Provider != judged.Provider || p.Distribution != judged.Distribution {
		out = append(out, fmt.Sprintf("it was signed as the run %s, and the history is of %s", p.Run, judged.Run))
	}
	if p.Verdict != judged.Verdict || !maps.Equal(p.Verdicts, judged.Verdicts) {
		out = append(out, fmt.Sprintf("it was signed with the verdict %s%s, and the history gives %s%s",
			p.Verdict, p.besides(judged), judged.Verdict, judged.besides(p)))
	}
	return out
}

// besides tells of the first requirement of which another predicate has another
// verdict; empty if there is none.
func (p Predicate) besides(other Predicate) string {
	for _, id := range slices.Sorted(maps.Keys(p.Verdicts)) {
		if p.Verdicts[id] != other.Verdicts[id] {
			return fmt.Sprintf(" (%s %s)", id, p.Verdicts[id])
		}
	}
	return ""
}
