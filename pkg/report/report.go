// Package report turns a judgement into what people and CI systems read: the
// report of a bundle, JUnit, and a table for the terminal. All of it follows
// from the judgement alone, so judging a bundle again gives the same bytes.
package report

import (
	"fmt"
	"slices"
	"time"

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

// ConformanceReport is what one run found out about one control plane.
type ConformanceReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Run is the identifier of the run; Date when it began, in RFC 3339.
	Run  string `json:"run"`
	Date string `json:"date"`
	// Seed is what all randomness of the run was derived from.
	Seed int64 `json:"seed"`
	// Harness is the version of evenkeel that recorded.
	Harness  string `json:"harness"`
	Target   Target `json:"target"`
	Scenario string `json:"scenario"`
	// Defect is the ID of the defect that was planted on purpose, if any.
	Defect string `json:"defect,omitempty"`
	// Strict is whether documented deviations counted as failures.
	Strict bool `json:"strict,omitempty"`
	// Verdict of all requirements that the run was asked to judge, taken
	// together. What could not be judged makes a pass inconclusive.
	Verdict check.Verdict `json:"verdict"`
	// Complete is whether the scenario was played to its end; Message is what
	// the harness said of it.
	Complete bool   `json:"complete"`
	Message  string `json:"message,omitempty"`
	// Events is how many lines of history were judged.
	Events int64    `json:"events"`
	Damage []string `json:"damage,omitempty"`
	// Doubts are reasons not to trust any pass of this run.
	Doubts   []string  `json:"doubts,omitempty"`
	Profiles []Profile `json:"profiles"`
	// Results, one for each requirement judged, in the order of the catalogue.
	Results []check.Result `json:"results"`
	// NotJudged are requirements that the run was asked to judge, and that its
	// scenario cannot.
	NotJudged []requirement.ID `json:"notJudged,omitempty"`
	// Faults that were injected, each with its witness.
	Faults []check.FaultSeen `json:"faults,omitempty"`
	// Etcd is how all members' etcd were where that was looked at, which is after
	// a power cut.
	Etcd []check.EtcdSeen `json:"etcd,omitempty"`
	// Balancer is how clients of the load balancer fared, where there is one.
	Balancer *check.BalancerSeen `json:"balancer,omitempty"`
	// States in which the control plane was held, with every member's release.
	States []check.HoldSeen `json:"states,omitempty"`

	// Took is how long the run was, by its history. It is for comparing runs, and no
	// part of the file.
	Took time.Duration `json:"-"`
}

// Target is the control plane under test.
type Target struct {
	Provider     string                 `json:"provider"`
	Distribution string                 `json:"distribution"`
	Members      []history.MemberHeader `json:"members"`
}

// Outcome of a profile or of one of its parts.
type Outcome string

// The outcomes. A documented deviation stands in the way of none. A core requirement
// that was not judged, or not conclusively, makes a profile partial, never a success;
// so does one that is not applicable because somebody else runs the cluster.
const (
	Success Outcome = "success"
	Partial Outcome = "partial"
	Failure Outcome = "failure"
)

// Profile is the result for one profile.
type Profile struct {
	Name     string `json:"name"`
	Core     Part   `json:"core"`
	Extended Part   `json:"extended"`
}

// Part is the core or the extended part of a profile.
type Part struct {
	Outcome Outcome `json:"outcome"`
	// Counts of requirements by verdict.
	Counts map[check.Verdict]int `json:"counts"`
}

// New makes the report of a judgement for the profiles that were claimed.
func New(j *check.Judgement, profiles []requirement.Profile) *ConformanceReport {
	h := j.Header
	r := &ConformanceReport{
		APIVersion: APIVersion, Kind: Kind,
		Run: h.Run, Date: h.Started.UTC().Format("2006-01-02T15:04:05Z"), Seed: h.Seed, Harness: h.Harness,
		Target:   Target{h.Provider, h.Distribution, h.Members},
		Scenario: h.Scenario, Defect: h.Defect, Strict: h.Strict,
		Verdict: check.Worst(j.Results), Complete: j.Complete, Message: j.EndMessage,
		Events: j.Events, Damage: j.Damage, Doubts: j.Doubts, Results: j.Results, Faults: j.Faults, Etcd: j.Etcd, Balancer: j.Balancer, States: j.Holds, Took: j.Took,
	}
	verdicts := map[requirement.ID]check.Verdict{}
	for _, res := range j.Results {
		verdicts[res.ID] = res.Verdict
	}
	wanted := asked(h, profiles)
	for _, id := range wanted {
		if _, judged := verdicts[id]; !judged {
			r.NotJudged = append(r.NotJudged, id)
		}
	}
	if len(r.NotJudged) > 0 && r.Verdict == check.Pass {
		r.Verdict = check.Inconclusive
	}
	foreign := h.Provider == history.ProviderExternal
	for _, p := range profiles {
		// Who asked for single requirements claims no profile that has none of them.
		if !slices.ContainsFunc(p.Requirements, func(id requirement.ID) bool { return slices.Contains(wanted, id) }) {
			continue
		}
		r.Profiles = append(r.Profiles, Profile{
			Name:     p.Name,
			Core:     part(p, requirement.Must, verdicts, foreign),
			Extended: part(p, requirement.Should, verdicts, foreign),
		})
	}
	return r
}

// asked are the requirements that the run was to judge: whole profiles, unless
// its header says otherwise.
func asked(h history.Header, profiles []requirement.Profile) []requirement.ID {
	var out []requirement.ID
	for _, id := range h.Asked {
		out = append(out, requirement.ID(id))
	}
	if len(out) > 0 {
		return out
	}
	for _, p := range profiles {
		for _, id := range p.Requirements {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

func part(p requirement.Profile, level requirement.Level, verdicts map[requirement.ID]check.Verdict, foreign bool) Part {
	out := Part{Outcome: Success, Counts: map[check.Verdict]int{}}
	for _, id := range p.Requirements {
		req, ok := requirement.Lookup(id)
		if !ok || req.Level != level {
			continue
		}
		v, judged := verdicts[id]
		if !judged {
			v = check.Skipped
		}
		out.Counts[v]++
		switch v {
		case check.Fail:
			out.Outcome = Failure
		case check.Pass, check.Deviation:
		case check.NotApplicable:
			// Who gave no means to put a promise to the test has not shown that it is
			// kept, and a profile claims all of its promises.
			if foreign && out.Outcome == Success {
				out.Outcome = Partial
			}
		default:
			if out.Outcome == Success {
				out.Outcome = Partial
			}
		}
	}
	// A core of which nothing was judged to be kept is no success either.
	if level == requirement.Must && out.Outcome == Success && out.Counts[check.Pass] == 0 {
		out.Outcome = Partial
	}
	return out
}

// YAML of the report; the same report gives the same bytes.
func (r *ConformanceReport) YAML() ([]byte, error) {
	out, err := yaml.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the report: %w", err)
	}
	return out, nil
}
