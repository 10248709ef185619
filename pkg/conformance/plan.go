package conformance

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// PlanKind is the kind of a plan.
const PlanKind = "ConformancePlan"

// Plan says which runs a campaign plays. The same request to the same evenkeel gives the
// same plan, byte for byte, so that machines that share a campaign need not exchange it.
type Plan struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Harness is the evenkeel that plans and plays.
	Harness Program `json:"harness"`
	// Suite is the version of the requirements and laws, as in reports of runs.
	Suite string `json:"suite"`
	// Target that is played on.
	Target PlannedTarget `json:"target"`
	// Asked is what the campaign was asked for.
	Asked Asked `json:"asked"`
	// Requirements to judge, in the order of the catalog.
	Requirements []requirement.ID `json:"requirements"`
	// Lines are the runs, in the order in which they begin.
	Lines []Line `json:"lines"`
	// LeftOut are scenarios that could judge something and cannot be played on the target.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
}

// Program identifies an evenkeel.
type Program struct {
	// Version that it says it has.
	Version string `json:"version"`
	// Digest is the SHA-256 of the program, in hexadecimal.
	Digest string `json:"digest"`
}

// PlannedTarget is the control plane as the topology has it.
type PlannedTarget struct {
	// Topology is the file, or the name of one that ships with evenkeel.
	Topology string `json:"topology"`
	// TopologyDigest is the SHA-256 of that file, in hexadecimal.
	TopologyDigest string `json:"topologyDigest"`
	// Release at which members begin, where it was asked for.
	Release      string   `json:"release,omitempty"`
	Provider     string   `json:"provider"`
	Distribution string   `json:"distribution"`
	Members      []string `json:"members"`
}

// Asked is what a campaign was asked for.
type Asked struct {
	// Profiles of which requirements are judged.
	Profiles []string `json:"profiles"`
	// Focus is the regular expression that the IDs of requirements match; empty for all.
	Focus string `json:"focus,omitempty"`
	// Scenarios that are played; empty for all that can judge what is asked.
	Scenarios []string `json:"scenarios,omitempty"`
	// Confidence, as a share: the runs are as many as it takes to say with it that a
	// requirement breaks in at most the share of runs that Rate is. 0 where no bound was asked
	// for, as Rate is then.
	Confidence float64 `json:"confidence,omitempty"`
	// Rate is that share.
	Rate float64 `json:"rate,omitempty"`
	// Repeat is how often each scenario is played at least.
	Repeat int `json:"repeat"`
	// Tries is how often a run is played at most until it is conclusive.
	Tries int `json:"tries"`
	// Seed of the first run of each scenario; the next has the next seed.
	Seed int64 `json:"seed"`
	// Defect that is planted in every run; reference only.
	Defect string `json:"defect,omitempty"`
	// Strict is whether documented deviations count as failures.
	Strict bool `json:"strict,omitempty"`
	// AllowDisruption is whether runs may disrupt an external cluster.
	AllowDisruption bool `json:"allowDisruption,omitempty"`
}

// Line is one run of a plan.
type Line struct {
	// Number of the line, from 1.
	Number int `json:"line"`
	// Scenario is the name of a scenario that ships with evenkeel.
	Scenario string `json:"scenario"`
	// ScenarioDigest is the SHA-256 of scenario.yaml in the bundle, in hexadecimal.
	ScenarioDigest string `json:"scenarioDigest"`
	Seed           int64  `json:"seed"`
	// Judges are the requirements that the run can let pass.
	Judges []requirement.ID `json:"judges"`
}

// LeftOut is a scenario that is not planned.
type LeftOut struct {
	// Scenario by name.
	Scenario string `json:"scenario"`
	// Reason why the target cannot be played on with it.
	Reason string `json:"reason"`
}

// YAML encodes the plan; the same plan gives the same bytes.
func (p *Plan) YAML() ([]byte, error) {
	raw, err := yaml.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode the plan: %w", err)
	}
	return raw, nil
}

// parsePlan reads a plan and gives its digest. It accepts only what evenkeel writes.
func parsePlan(raw []byte) (plan *Plan, digest string, err error) {
	plan = &Plan{}
	if err := yaml.UnmarshalStrict(raw, plan); err != nil {
		return nil, "", fmt.Errorf("%s cannot be read: %w", PlanFile, err)
	}
	if err := plan.validate(); err != nil {
		return nil, "", fmt.Errorf("%s is no plan that evenkeel wrote: %w", PlanFile, err)
	}
	return plan, bundle.ContentDigest(raw), nil
}

func (p *Plan) validate() error {
	switch {
	case p.APIVersion != APIVersion || p.Kind != PlanKind:
		return fmt.Errorf("it is a %s of %s, and not a %s of %s", p.Kind, p.APIVersion, PlanKind, APIVersion)
	case len(p.Lines) == 0 || len(p.Lines) > maxLines:
		return fmt.Errorf("it has %d lines", len(p.Lines))
	case p.Asked.Tries < 1 || p.Asked.Tries > maxTries:
		return fmt.Errorf("tries is %d", p.Asked.Tries)
	case (p.Asked.Confidence == 0) != (p.Asked.Rate == 0) || !share(p.Asked.Confidence) || !share(p.Asked.Rate):
		return fmt.Errorf("confidence is %v and rate is %v", p.Asked.Confidence, p.Asked.Rate)
	}
	asked := map[requirement.ID]bool{}
	for _, id := range p.Requirements {
		if asked[id] {
			return fmt.Errorf("requirement %s is there twice", id)
		}
		asked[id] = true
	}
	for i, line := range p.Lines {
		if line.Number != i+1 {
			return fmt.Errorf("line %d has the number %d", i+1, line.Number)
		}
		if len(line.Judges) == 0 || line.Seed == 0 {
			return fmt.Errorf("line %d has no seed or judges nothing", line.Number)
		}
		for _, id := range line.Judges {
			if !asked[id] {
				return fmt.Errorf("line %d judges %s, which the plan was not asked for", line.Number, id)
			}
		}
	}
	return nil
}

func share(of float64) bool { return of >= 0 && of < 1 }

// current is an error where another evenkeel made the plan: its runs would be judged by
// other rules than those that are there.
func (p *Plan) current() error {
	if now := check.Suite(); p.Suite != now {
		return fmt.Errorf("the plan is of the suite %.12s…, and this evenkeel judges by %.12s…: go on with evenkeel %s, or begin a new campaign", p.Suite, now, p.Harness.Version)
	}
	return nil
}
